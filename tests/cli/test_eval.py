"""`niwaki eval`: scores of models and of files of predictions."""

import json

import pytest

import tiny
from cli.recipes import THREE
from contracts import task_rows
from niwaki.api.task_choice import choose_task
from niwaki.core import log
from niwaki.tasks.classification import Classification


def test_model_with_other_labels_is_rejected(rejected, model, tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\n" + "".join(f"film {k},{'abc'[k % 3]}\n" for k in range(60)))
    assert "its labels are ['bad', 'good'], the task's are ['a', 'b', 'c']" in rejected(
        "eval", model, "--data", tmp_path / "rows.csv"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--split", "tets"], "did you mean 'test'"),
        (["--task", "imdbb"], "did you mean 'imdb'"),
        (["--engine", "onx"], "did you mean 'onnx'"),
    ],
)
def test_unknown_split_task_or_engine_is_rejected(rejected, model, rows_csv, arguments, words):
    more = [] if "--task" in arguments else ["--data", rows_csv]
    assert words in rejected("eval", model, *more, *arguments)


def test_unused_columns_are_listed(niwaki, model, tmp_path):
    (tmp_path / "rows.csv").write_text(
        "first,second,label\n" + THREE.replace(",a\n", ",bad\n").replace(",b\n", ",good\n")
    )
    log.quiet(False)
    result = niwaki("eval", model, "--data", tmp_path / "rows.csv", "--set", "data.text=first")
    assert "not used: second (to read pairs of texts, add --set data.second=second)" in result.err, result


def test_model_is_scored_on_a_split(niwaki, model, rows_csv):
    scores = json.loads(niwaki("eval", model, "--data", rows_csv, "--json").out)
    assert scores["metric"] == "accuracy" and scores["rows"] == 24
    assert niwaki("eval", model, "--data", rows_csv, "--split", "validation").out.startswith("accuracy")
    cut = niwaki("eval", model, "--data", rows_csv, "--set", "data.test=0.25", "--json")
    assert json.loads(cut.out)["rows"] == 40
    assert niwaki("eval", model, "--data", rows_csv, "--set", "seed=1").code == 3


def test_bleu_of_predictions_is_reported_with_the_signature_of_sacrebleu(niwaki, tmp_path):
    pairs = [{"source": f"house {number}", "target": f"das Haus {number} ist rot"} for number in range(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    task = choose_task("translation", tmp_path / "rows.jsonl", [])
    gold = task.gold(task.splits()["test"])
    for name, result in (("right", gold), ("wrong", [text.replace("rot", "blau") for text in gold])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"prediction": text}) + "\n" for text in result))
    command = ["eval", "--task", "translation", "--data", tmp_path / "rows.jsonl", "--predictions"]
    value = json.loads(niwaki(*command, tmp_path / "wrong.jsonl", "--against", tmp_path / "right.jsonl", "--json").out)
    assert value["against"]["value"] == pytest.approx(1) and value["against"]["paired"]["shown"]
    assert value["metric"] == "bleu" and value["value"] == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert "tok:13a|smooth:exp" in value["caveat"]
    assert "tok:13a|smooth:exp" in niwaki(*command, tmp_path / "right.jsonl").out.splitlines()[-1]


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


def test_predictions_in_a_file_are_scored(niwaki, rows_csv, gold, tmp_path):
    assert len(gold) == 24
    path = write(tmp_path / "predictions.jsonl", turned(gold, 6))
    found = json.loads(niwaki("eval", "--predictions", path, "--data", rows_csv, "--json").out)
    assert (found["task"], found["split"], found["value"], found["rows"]) == ("classification", "test", 0.75, 24)
    assert niwaki("eval", "--predictions", path, "--data", rows_csv).out.startswith("accuracy     0.7500  (0.")
    lone = tmp_path / "predictions.csv"
    lone.write_text("anything\n" + "\n".join(turned(gold, 6)) + "\n")  # an only column needs no name
    assert json.loads(niwaki("eval", "--predictions", lone, "--data", rows_csv, "--json").out) == found


def test_predictions_for_another_split_are_scored(niwaki, rows_csv, tmp_path):
    task = Classification(path=str(rows_csv))
    path = write(tmp_path / "predictions.jsonl", task.gold(task.splits()["validation"]))
    result = niwaki("eval", "--predictions", path, "--data", rows_csv, "--split", "validation", "--json")
    assert (json.loads(result.out)["value"], json.loads(result.out)["rows"]) == (1.0, 16)


def test_difference_between_two_sets_of_predictions_is_tested(niwaki, rows_csv, gold, tmp_path, model):
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
def test_either_a_model_or_predictions_must_be_given(rejected, arguments):
    assert "give a model, or a file of predictions" in rejected("eval", *arguments, code=2)


def test_predictions_of_the_wrong_number_or_column_are_rejected(rejected, rows_csv, gold, tmp_path):
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
def test_invalid_predictions_are_rejected(rejected, tmp_path, task, value):
    rows = task_rows.write(task, tmp_path, count=60)
    path = write(tmp_path / "predictions.jsonl", [value] * 9)
    line = rejected("eval", "--predictions", path, "--data", rows)
    assert "no answers to task" in line or "is not among" in line
