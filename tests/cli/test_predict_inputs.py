"""`niwaki predict` for the inputs of every answer type."""

import io
import json
import sys

import numpy as np
import pytest
from PIL import Image

from engines.by_hand import numbers
from engines.kinds import INPUTS, model_of, saved
from niwaki.engines.predictor import Predictor

LINES = {
    "label": ["a good film", "a good film\tthe plot was dull"],
    "labels": ["a good film"],
    "number": ["a good film\tthe plot was dull"],
    "choice": ["the film was\tgood\tdull", "it is\tcold\twarm\tfine"],
    "tags": ["the film was very good.", "unseen words, too"],
    "roles": ["the film was very good.", "unseen words, too\t1"],
    "span": ["the good\tit was a very good film and a dull plot"],
    "senses": ["the film was very good.", "a dull plot, a cold film"],
    "embedding": ["a good film", "a good film\tthe plot was dull"],
    "likelihood": ["a good film", "a good film\tthe plot was dull"],
}
GIVEN = {  # the same, as Python users give it
    "label": ["a good film", ("a good film", "the plot was dull")],
    "labels": ["a good film"],
    "number": [("a good film", "the plot was dull")],
    "choice": [("the film was", ["good", "dull"]), ("it is", ["cold", "warm", "fine"])],
    "tags": [["the", "film", "was", "very", "good", "."], ["unseen", "words", ",", "too"]],
    "roles": [["the", "film", "was", "very", "good", "."], (["unseen", "words", ",", "too"], 1)],
    "span": [("the good", "it was a very good film and a dull plot")],
    "senses": [["the", "film", "was", "very", "good", "."], ["a", "dull", "plot", ",", "a", "cold", "film"]],
    "embedding": ["a good film", ("a good film", "the plot was dull")],
    "likelihood": ["a good film", ("a good film", "the plot was dull")],
}
PREDICTIONS = {
    "label": "label",
    "labels": "labels",
    "number": "value",
    "choice": "choice",
    "tags": "tags",
    "span": "answer",
    "roles": "frames",
    "senses": "senses",
    "embedding": "embedding",
    "likelihood": "log_likelihood",
}


@pytest.fixture(scope="module", params=LINES)
def served(request, tmp_path_factory):
    return request.param, saved(model_of(request.param), tmp_path_factory.mktemp("served") / request.param)


def without_chances(result):
    """Probabilities differ in the last digits from engine to engine."""
    if isinstance(result, dict):
        return {name: without_chances(value) for name, value in result.items() if name != "probability"}
    return [without_chances(one) for one in result] if isinstance(result, list) else result


def test_lines_of_every_answer_type_are_predicted(niwaki, served, tmp_path, monkeypatch):
    kind, folder = served
    predictor = Predictor(folder)
    wanted = [getattr(one, PREDICTIONS[kind]) for one in predictor.predict(GIVEN[kind])]
    (tmp_path / "lines").write_text("\n".join(LINES[kind]))
    result = json.loads(niwaki("predict", folder, "--in", tmp_path / "lines", "--json").out)
    found = [answer[PREDICTIONS[kind]] for answer in result]
    assert [answer["text"] for answer in result] == LINES[kind]
    if kind in ("number", "embedding", "likelihood"):
        np.testing.assert_allclose(numbers(found), numbers(wanted), atol=1e-3)
    else:
        assert without_chances(found) == without_chances(wanted)
    plain = niwaki("predict", folder, *LINES[kind]).out
    assert len(plain.splitlines()) == len(LINES[kind])
    assert all(line.endswith(f"\t{given}") for line, given in zip(plain.splitlines(), LINES[kind], strict=True))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(LINES[kind])))
    assert niwaki("predict", folder).out == plain


def test_tags_are_printed_next_to_their_words(niwaki, served):
    kind, folder = served
    if kind != "tags":
        return
    (tags,) = Predictor(folder).values(GIVEN[kind][:1])
    words = [word if tag == "O" else f"{word}/{tag}" for word, tag in zip(GIVEN[kind][0], tags, strict=True)]
    assert niwaki("predict", folder, LINES[kind][0]).out.split("\t")[0] == " ".join(words)


BAD = {
    "label": "one\ttwo\tthree",
    "labels": "one\ttwo\tthree",
    "number": "one\ttwo\tthree",
    "choice": "only a beginning",
    "span": "a question alone",
    "tags": None,
    "roles": "one two\t2",
    "senses": None,
    "embedding": "one\ttwo\tthree",
    "likelihood": "one\ttwo\tthree",
}


def test_malformed_and_empty_lines_are_rejected(niwaki, rejected, served):
    kind, folder = served
    good = LINES[kind][0]
    if BAD[kind]:
        assert "texts.1: must be a " in rejected("predict", folder, good, BAD[kind], code=2)
    assert "texts.1: is empty" in rejected(
        "predict", folder, good, {"choice": "\ta\tb", "span": "a\t "}.get(kind, "  ")
    )


def test_every_answer_type_has_example_lines():
    assert LINES.keys() == GIVEN.keys() == BAD.keys() == INPUTS.keys() - {"image_label", "image_embedding"}


@pytest.mark.parametrize("kind", ["image_label", "image_embedding"])
def test_paths_of_images_are_predicted(niwaki, rejected, tmp_path, kind):
    folder = saved(model_of(kind), tmp_path / "model")
    pixels = np.random.default_rng(0).integers(0, 256, (2, 9, 13, 3), dtype=np.uint8)
    paths = [str(tmp_path / f"{number}.png") for number in range(2)]
    for path, image in zip(paths, pixels, strict=True):
        Image.fromarray(image).save(path)
    (tmp_path / "lines").write_text("\n".join(paths))
    found = json.loads(niwaki("predict", folder, "--in", tmp_path / "lines", "--json").out)
    wanted = [answer.record() for answer in Predictor(folder).predict(list(pixels))]
    assert [answer["text"] for answer in found] == paths
    for one, other in zip(found, wanted, strict=True):
        name = "label" if kind == "image_label" else "embedding"
        assert one[name] == (other[name] if kind == "image_label" else pytest.approx(other[name], abs=1e-3))
    assert "missing.png" in rejected("predict", folder, paths[0], str(tmp_path / "missing.png"), code=3)
