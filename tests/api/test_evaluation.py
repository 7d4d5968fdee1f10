"""Scores of models and of files of predictions. The command is tested in tests/cli/test_eval.py."""

import json

import pytest

import tiny
from niwaki import api
from niwaki.core.errors import InputError, UsageError
from niwaki.evaluate import quality
from niwaki.tasks.classification import Classification


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(quality, "RESAMPLES", 100)


@pytest.fixture
def gold(rows_csv):
    task = Classification(path=str(rows_csv))
    return task.gold(task.splits()["test"])


@pytest.fixture
def predictions(tmp_path):
    def write(values, name="predictions.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"prediction": value}) + "\n" for value in values))
        return path

    return write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.with_graphs(tiny.model("bert", layers=1), tmp_path_factory.mktemp("evaluation") / "model")


def flipped(gold, count):
    return [tiny.LABELS[label == tiny.LABELS[0]] for label in gold[:count]] + gold[count:]


def test_predictions_are_scored_by_hand(rows_csv, gold, predictions):
    found = api.evaluate(predictions=predictions(flipped(gold, 6)), data=rows_csv)
    assert (found["task"], found["split"], found["metric"]) == ("classification", "test", "accuracy")
    assert found["value"] == (len(gold) - 6) / len(gold) and found["low"] < found["value"] < found["high"]
    assert "against" not in found and found["caveat"] == ""


def test_a_model_scores_as_its_predictions_do(rows_csv, model, predictions):
    task = Classification(path=str(rows_csv))
    answers = api.load(model, "onnx").predict(task.inputs(task.splits()["test"]))
    by_model = api.evaluate(model, data=rows_csv, engine="onnx")
    assert by_model == api.evaluate(predictions=predictions([one.label for one in answers]), data=rows_csv)


def test_two_sources_are_compared_on_the_same_rows(rows_csv, gold, predictions, model):
    right, worse = predictions(gold), predictions(flipped(gold, 12), "worse.jsonl")
    found = api.evaluate(predictions=right, against=worse, data=rows_csv)
    assert found["value"] == 1 and found["against"]["paired"]["difference"] == pytest.approx(12 / len(gold))
    assert api.evaluate(predictions=right, against=model, data=rows_csv, engine="onnx")["against"]["value"] < 1


@pytest.mark.parametrize(("given", "predicted"), [("", ""), ("model", "file")])
def test_either_a_model_or_predictions_are_given(given, predicted):
    with pytest.raises(UsageError, match=r"^evaluate: give a model, or a file of predictions"):
        api.evaluate(given, predictions=predicted)


def test_an_unknown_split_is_named(rows_csv, predictions):
    with pytest.raises(InputError, match=r"^split 'tset': is not there, did you mean 'test'"):
        api.evaluate(predictions=predictions([]), data=rows_csv, split="tset")


def test_a_model_of_another_task_is_rejected(model, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,label\n" + "".join(f"film {n},{'abc'[n % 3]}\n" for n in range(60)))
    with pytest.raises(InputError, match="its labels are"):
        api.evaluate(model, data=path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n" + "x,y\n" * 24, r"has no column 'prediction' \(there is: a, b\)"),
        ("prediction\nbad\n", "has 1 predictions for 24 rows; give one for each row, in their order"),
    ],
)
def test_files_that_do_not_answer_the_rows_are_rejected(rows_csv, tmp_path, content, message):
    path = tmp_path / "predictions.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        api.evaluate(predictions=path, data=rows_csv)


def test_a_missing_file_is_rejected(rows_csv, tmp_path):
    with pytest.raises(InputError, match=r"is no file of predictions, it is not there or a folder$"):
        api.evaluate(predictions=tmp_path, data=rows_csv)


def test_predictions_that_are_no_answers_are_rejected(tmp_path, predictions):
    path = tmp_path / "rows.csv"
    path.write_text("text,label\n" + "".join(f"film {n},{n / 7}\n" for n in range(60)))
    for value, reason in (("dear", "could not convert"), ("nan", "a number is infinite or none")):
        with pytest.raises(InputError, match=rf"its predictions are no answers to task 'regression' \({reason}"):
            api.evaluate(task="regression", predictions=predictions([value] * 9), data=path)
