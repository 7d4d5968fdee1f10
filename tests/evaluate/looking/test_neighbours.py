import json

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.input_file import InputRow
from niwaki.evaluate.looking.neighbours import Rows, label_in, pooled_by
from niwaki.models.forward import forward
from niwaki.models.record import FINAL, POOLED


def test_a_text_is_nearest_to_itself(subject, tmp_path):
    one, path = subject("the film was good"), tmp_path / "rows.jsonl"
    texts = ["a dull plot", "the film was good", "very fine", "the film was bad"]
    path.write_text(
        "".join(json.dumps({"text": text, "label": f"l{number}"}) + "\n" for number, text in enumerate(texts))
    )
    target = pooled_by(one.model)(one.encoded)
    found = Rows(path).nearest(one.predictor, one.model, target, 3)
    assert (found[0].line, found[0].given, found[0].label) == (2, texts[1], "l1")
    assert found[0].similarity == pytest.approx(1, abs=1e-5)
    vectors = pooled_by(one.model)(one.encode(texts))
    cosines = vectors @ vectors[1] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(vectors[1])
    assert [row.similarity for row in found] == pytest.approx(sorted(cosines, reverse=True)[:3], abs=1e-5)


def test_vectors_are_what_the_head_reads(subject):
    one = subject()
    batch = tiny.batch(one.model)
    tagger = tiny.model("bert", head="TokenClassification")
    given = tiny.batch(tagger)
    with torch.no_grad():
        pooled = forward(one.model.anatomy, batch, frozenset({POOLED})).pooled[0]
        states = forward(tagger.anatomy, given, frozenset({FINAL})).final[0]
    wanted = [row[real.bool()].mean(dim=0) for row, real in zip(states, given.mask, strict=True)]
    texts = [text for text, _ in tiny.sentences(6)]
    own = pooled_by(one.model)(one.encode(texts))
    torch.testing.assert_close(torch.from_numpy(own), pooled, atol=1e-5, rtol=1e-5)
    mean = pooled_by(tagger)(one.encode(texts))
    torch.testing.assert_close(torch.from_numpy(mean), torch.stack(wanted), atol=1e-5, rtol=1e-5)


def test_missing_and_empty_files_are_rejected(subject, tmp_path):
    one, empty = subject(), tmp_path / "empty.txt"
    empty.write_text("\n")
    target = pooled_by(one.model)(one.encoded)
    for path, problem in ((tmp_path / "none.csv", "is not a file"), (empty, "no rows")):
        with pytest.raises(InputError, match=problem):
            Rows(path).nearest(one.predictor, one.model, target, 1)


def test_labels_are_read_from_their_column():
    assert label_in(InputRow(1, cells={"Label": 3, "text": "a"})) == "3" and label_in(InputRow(1)) == ""
