"""The rows that a model is judged on: labels that match its head, or labels of its own."""

import json

import pyarrow as pa
import pytest

import tiny
from niwaki.compression.rows import find_rows, only_texts, texts_in
from niwaki.core.errors import InputError

TEXTS = [text for text, _ in tiny.sentences(40)]


def saved(folder, labels):
    folder.mkdir()
    tiny.model("bert", layers=1, labels=labels).save(folder)
    return folder


def rows_with(labels):
    return [{"text": text, "label": labels[number % len(labels)]} for number, text in enumerate(TEXTS)]


@pytest.mark.parametrize(
    ("labels", "given", "classes"),
    [
        (["bad", "good"], ["bad", "good"], None),
        (["bad", "good"], ["Good", "Bad"], None),
        (["bad", "good"], [0, 1], ["bad", "good"]),
        (["a", "b", "c"], ["a", "c"], ["a", "b", "c"]),
        (["LABEL_0", "LABEL_1"], [0, 1], ["LABEL_0", "LABEL_1"]),
        (["LABEL_0", "LABEL_1"], ["no", "yes"], None),
    ],
)
def test_labels_of_the_rows_are_matched_with_those_of_the_model(tmp_path, labels, given, classes):
    rows = find_rows(saved(tmp_path / "model", labels), rows_with(given), None, [], tmp_path / "run")
    assert rows.labelled and rows.can_train and rows.settings.get("classes") == classes


@pytest.mark.parametrize("given", [["cat", "dog"], [0, 7]])
def test_other_labels_are_rejected(tmp_path, given):
    with pytest.raises(InputError, match="the model answers with bad, good"):
        find_rows(saved(tmp_path / "model", tiny.LABELS), rows_with(given), None, [], tmp_path / "run")


@pytest.mark.parametrize("form", ["list", "txt", "csv"])
def test_texts_without_labels_are_labelled_by_the_model(tmp_path, form):
    data = TEXTS
    if form != "list":
        data = tmp_path / f"texts.{form}"
        data.write_text("\n".join([*(["text"] if form == "csv" else []), *TEXTS]) + "\n")
    rows = find_rows(saved(tmp_path / "model", tiny.LABELS), data, None, [], tmp_path / "run")
    assert not rows.labelled and rows.can_train and rows.score_name == "agreement"
    assert rows.settings["classes"] == tiny.LABELS


def test_without_data_the_sample_texts_are_not_trained_on(tmp_path):
    rows = find_rows(saved(tmp_path / "model", tiny.LABELS), None, None, [], tmp_path / "run")
    assert not rows.labelled and not rows.can_train


def test_a_question_answering_model_needs_labelled_rows(tmp_path):
    (tmp_path / "model").mkdir()
    tiny.model("bert", layers=1, head="QuestionAnswering").save(tmp_path / "model")
    with pytest.raises(InputError, match="labelled rows are needed"):
        find_rows(tmp_path / "model", TEXTS, None, [], tmp_path / "run")


def test_overrides_are_settings_of_the_data(tmp_path):
    rows = [{"review": text, "label": label, "note": "x"} for text, label in tiny.sentences(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = saved(tmp_path / "model", tiny.LABELS)
    found = find_rows(source, tmp_path / "rows.jsonl", None, ["data.text=review", "data.max_tokens=16"], tmp_path)
    assert found.settings["text"] == "review" and found.settings["max_tokens"] == 16


def test_only_texts_knows_pairs_and_labels_apart():
    assert only_texts(pa.table({"anything": ["a"]})) == ["anything"]
    assert only_texts(pa.table({"premise": ["a"], "hypothesis": ["b"]})) == ["premise", "hypothesis"]
    assert only_texts(pa.table({"text": ["a"], "label": ["b"]})) == []
    assert only_texts(pa.table({"label": [1]})) == []


@pytest.mark.parametrize("data", [TEXTS, rows_with(["a", "b"])], ids=["texts", "rows"])
def test_an_encoder_takes_only_the_texts(data):
    assert texts_in(data) == TEXTS
    assert len(texts_in(None)) > 100
