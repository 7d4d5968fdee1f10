"""Models of a real search: on disk as the record says, with the score of the engine that is named."""

import numpy as np
import pytest

from niwaki.core.files import folder_bytes
from niwaki.core.settings import check
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.search.job import Variant, to_json
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task


def test_every_model_is_as_its_record_says(searched):
    rows = [one for trial in searched.content["trials"] for one in trial.get("variants", [])]
    assert {one["format"] for one in rows} == {"float", "int8"} and {one["engine"] for one in rows} == {"native"}
    for one in rows:
        assert folder_bytes(searched.run_folder / one["model"]) == one["bytes"]


def test_the_score_is_that_of_the_validation_rows(searched):
    one = searched.content["trials"][0]["variants"][-1]
    data = {"path": str(searched.run_folder.parents[1] / "rows.csv")}
    task = check(TASKS.load("classification", Task), data, "data")
    table = task.splits()["validation"]
    answers = Predictor(searched.run_folder / one["model"], one["engine"]).values(task.inputs(table))
    right = np.mean([answer == label for answer, label in zip(answers, table.column("label").to_pylist(), strict=True)])
    assert one["score"] == pytest.approx(right)


def test_records_have_no_machine_paths(tmp_path):
    variant = Variant("int8", "onnx", "k", tmp_path / "stages" / "a" / "model", 0.5, 3, 7)
    assert to_json(variant, tmp_path)["model"] == "stages/a/model" and variant.label == "int8/onnx"


@pytest.mark.parametrize("what", ["timing of the source", "trial 0", "selected"])
def test_evaluations_are_charged(searched, what):
    assert what in {line["stage"] for line in Ledger(searched.run_folder / "ledger.jsonl").lines()}
