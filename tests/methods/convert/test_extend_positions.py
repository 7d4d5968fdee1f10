"""Longer texts as a method; its edit is tested in tests/models/edits/test_positions.py."""

import tiny
from converted import check_saved_and_exported, outputs, text_batch
from niwaki.methods.convert.extend_positions import ExtendPositions
from niwaki.methods.convert.window import Window


def test_long_texts_combine_with_windows(tmp_path):
    model = ExtendPositions(tokens=300).dry_prepare(tiny.model("bert"))
    model = Window(window=4).dry_prepare(model)
    assert model.anatomy.max_tokens == 300 and outputs(model, text_batch(model, 300)).isfinite().all()
    check_saved_and_exported(model, tmp_path)
