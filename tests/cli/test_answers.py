"""`eval` of files of predictions and of two at once, `predict` for every form of input, through the program."""

import io
import json
import sys

import numpy as np
import pytest

import tiny
from contracts import task_rows
from engines.kinds import INPUTS, model_of, saved
from niwaki.engines.predictor import Predictor
from niwaki.tasks.classification import Classification


@pytest.fixture(scope="module")
def gold(rows_csv):
    task = Classification(path=str(rows_csv))
    return task.gold(task.splits()["test"])


def write(path, values):
    path.write_text("".join(f"{json.dumps({'number': k, 'prediction': value})}\n" for k, value in enumerate(values)))
    return path


def turned(gold, count):
    """The right answers with some of them turned over."""
    return [tiny.LABELS[label == tiny.LABELS[0]] for label in gold[:count]] + gold[count:]


# ── eval ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_eval_of_predictions_by_hand(niwaki, rows_csv, gold, tmp_path):
    assert len(gold) == 24
    path = write(tmp_path / "predictions.jsonl", turned(gold, 6))
    found = json.loads(niwaki("eval", "--predictions", path, "--data", rows_csv, "--json").out)
    assert (found["task"], found["split"], found["value"], found["rows"]) == ("classification", "test", 0.75, 24)
    assert niwaki("eval", "--predictions", path, "--data", rows_csv).out.startswith("accuracy     0.7500  (0.")
    lone = tmp_path / "predictions.csv"
    lone.write_text("anything\n" + "\n".join(turned(gold, 6)) + "\n")  # an only column needs no name
    assert json.loads(niwaki("eval", "--predictions", lone, "--data", rows_csv, "--json").out) == found


def test_eval_of_another_split(niwaki, rows_csv, tmp_path):
    task = Classification(path=str(rows_csv))
    path = write(tmp_path / "predictions.jsonl", task.gold(task.splits()["validation"]))
    result = niwaki("eval", "--predictions", path, "--data", rows_csv, "--split", "validation", "--json")
    assert (json.loads(result.out)["value"], json.loads(result.out)["rows"]) == (1.0, 16)


def test_eval_against_another(niwaki, rows_csv, gold, tmp_path, model):
    good, bad = (write(tmp_path / f"{count}.jsonl", turned(gold, count)) for count in (1, 20))
    result = niwaki("eval", "--predictions", good, "--against", bad, "--data", rows_csv)
    assert f"against {bad}" in result.out
    assert result.out.splitlines()[-1].startswith("difference in accuracy: +0.7917 (+0.")
    assert result.out.rstrip().endswith(": shown")
    same = niwaki("eval", "--predictions", good, "--against", good, "--data", rows_csv)
    assert same.out.rstrip().endswith("+0.0000 (+0.0000 to +0.0000): no difference shown")
    mixed = json.loads(niwaki("eval", model, "--against", good, "--data", rows_csv, "--json").out)
    own = json.loads(niwaki("eval", model, "--data", rows_csv, "--json").out)
    assert mixed["value"] == own["value"] and mixed["against"]["value"] == pytest.approx(23 / 24)
    assert mixed["against"]["paired"]["difference"] == pytest.approx(own["value"] - 23 / 24)
    twice = json.loads(niwaki("eval", model, "--against", model, "--data", rows_csv, "--json").out)
    assert twice["against"]["paired"] == {"difference": 0.0, "low": 0.0, "high": 0.0, "shown": False}


@pytest.mark.parametrize("arguments", [[], ["a model", "--predictions", "a file"]])
def test_a_model_or_a_file_and_not_both(rejected, arguments):
    assert "give a model, or a file of predictions" in rejected("eval", *arguments, code=2)


def test_predictions_that_do_not_fit(rejected, rows_csv, gold, tmp_path):
    def of(name, text):
        (tmp_path / name).write_text(text)
        return rejected("eval", "--predictions", tmp_path / name, "--data", rows_csv)

    assert "has 3 predictions for 24 rows" in of("few.jsonl", '{"prediction": "good"}\n' * 3)
    assert "has no column 'prediction' (there is: a, b)" in of("named.csv", "a,b\n" + "x,y\n" * 24)
    assert "few.csv" in of("few.csv", "")
    assert "is not there" in rejected("eval", "--predictions", tmp_path / "none.csv", "--data", rows_csv)
    (tmp_path / "folder").mkdir()
    assert "is no file of predictions" in rejected("eval", "--predictions", tmp_path / "folder", "--data", rows_csv)


@pytest.mark.parametrize(
    ("task", "value"),
    [
        ("regression", "dear"),
        ("regression", None),
        ("regression", "nan"),
        ("choice", "second"),
        ("choice", None),
        ("tagging", ["O"] * 99),
        ("tagging", 3),
        ("multilabel", ["no such"]),
        ("multilabel", 3),
    ],
)
def test_predictions_that_are_no_answers(rejected, tmp_path, task, value):
    rows = task_rows.write(task, tmp_path, count=60)
    path = write(tmp_path / "predictions.jsonl", [value] * 9)
    line = rejected("eval", "--predictions", path, "--data", rows)
    assert "no answers to task" in line or "is not among" in line


# ── predict ─────────────────────────────────────────────────────────────────────────────────────────────────────────

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
}


@pytest.fixture(scope="module", params=LINES)
def served(request, tmp_path_factory):
    return request.param, saved(model_of(request.param), tmp_path_factory.mktemp("served") / request.param)


def without_chances(result):
    """Probabilities differ in the last digits from engine to engine."""
    if isinstance(result, dict):
        return {name: without_chances(value) for name, value in result.items() if name != "probability"}
    return [without_chances(one) for one in result] if isinstance(result, list) else result


def test_predict_lines_of_every_kind(niwaki, served, tmp_path, monkeypatch):
    kind, folder = served
    predictor = Predictor(folder)
    wanted = [getattr(one, PREDICTIONS[kind]) for one in predictor.predict(GIVEN[kind])]
    (tmp_path / "lines").write_text("\n".join(LINES[kind]))
    result = json.loads(niwaki("predict", folder, "--in", tmp_path / "lines", "--json").out)
    found = [answer[PREDICTIONS[kind]] for answer in result]
    assert [answer["text"] for answer in result] == LINES[kind]
    if kind in ("number", "embedding"):
        np.testing.assert_allclose(found, wanted, atol=1e-3)
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
}


def test_a_line_of_another_form_and_an_empty_one_are_rejected(niwaki, rejected, served):
    kind, folder = served
    good = LINES[kind][0]
    if BAD[kind]:
        assert "texts.1: must be a " in rejected("predict", folder, good, BAD[kind], code=2)
    assert "texts.1: is empty" in rejected(
        "predict", folder, good, {"choice": "\ta\tb", "span": "a\t "}.get(kind, "  ")
    )


def test_inputs_of_every_kind_are_there():
    assert LINES.keys() == GIVEN.keys() == BAD.keys() == INPUTS.keys()
