"""Longer texts: positions are copied, and all families that read texts keep their answers."""

import pytest
import torch

import tiny
from converted import check_saved_and_exported, outputs, text_batch
from niwaki.core.errors import InputError
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.positions import Positions
from niwaki.models.edits.prefix import Prefix
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import run
from niwaki.models.model import load_folder

LIMITED = [name for name in tiny.FAMILIES if tiny.ABOUT[name].inputs.limited]


@pytest.mark.parametrize("family", LIMITED)
def test_short_texts_keep_their_answers_and_long_ones_can_be_read(family, tmp_path):
    model = tiny.model(family)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    model.apply_edit(Positions(tokens=150))
    assert model.anatomy.max_tokens == 150
    torch.testing.assert_close(outputs(model, batch), wanted, atol=1e-6, rtol=0)
    check_saved_and_exported(model, tmp_path)
    assert not (tmp_path / "blueprint.json").exists()  # plain transformers loads it
    loaded, long = load_folder(tmp_path), text_batch(model, 140)
    assert torch.equal(outputs(loaded, long), outputs(model, long))
    if family in tiny.ENCODING:  # the others look for the padding token, which these texts do not have
        with torch.no_grad():
            own = loaded.network(**long.inputs).logits
        # of the text without padding: MobileBERT in transformers reads a neighbour in the padding, which has random ids here
        torch.testing.assert_close(own[:1], outputs(model, long)[:1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_vectors_of_positions_are_copied_in_order(family):
    model = tiny.model(family)
    path = model.anatomy.inputs.small_tables[0]
    before, skipped = model.network.get_submodule(path).weight.clone(), model.anatomy.family.inputs.skipped_positions
    model.apply_edit(Positions(tokens=200))
    after = model.network.get_submodule(path).weight
    real = before[skipped:]
    assert torch.equal(after, torch.cat([before, real, real, real, real])[: skipped + 200])


def test_packed_tables_stay_packed(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Int8())
    kinds = type(model.network.get_submodule(model.anatomy.inputs.small_tables[0]))
    model.apply_edit(Positions(tokens=150))
    assert type(model.network.get_submodule(model.anatomy.inputs.small_tables[0])) is kinds
    check_saved_and_exported(model, tmp_path, atol=0.1)
    assert torch.isfinite(run(model.anatomy, text_batch(model, 149).inputs, {})).all()


def test_what_cannot_be_extended_is_rejected():
    with pytest.raises(InputError, match="reads 66 tokens already"):
        tiny.model("bert").apply_edit(Positions(tokens=66))
    model = tiny.model("bert")
    model.apply_edit(Prefix(tokens=4, takes_positions=True))
    with pytest.raises(InputError, match="before it"):
        model.apply_edit(Positions(tokens=100))
    model = tiny.model("bert")
    model.apply_edit(ReplacePart(slot="mixer", part="linear_mixing", layers=[0], settings={"tokens": 66}))
    with pytest.raises(InputError, match="mixer 'linear_mixing' has a fixed length"):
        model.apply_edit(Positions(tokens=100))
    seq2seq = tiny.model("bert", head="ConditionalGeneration")
    with pytest.raises(InputError, match="generate text"):
        seq2seq.apply_edit(Positions(tokens=100))
