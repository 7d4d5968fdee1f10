"""What a finished stage's folder holds."""

from types import SimpleNamespace
from typing import ClassVar

import pytest

import tiny
from niwaki.answers.labels import Labels
from niwaki.core.files import read_json
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import PROGRAM
from niwaki.models.model import load_folder
from niwaki.run.steps import publish as module
from niwaki.run.steps.publish import publish, tune_threshold
from niwaki.tasks.classification import Classification


@pytest.fixture
def job(tmp_path, rows_csv):
    def build(trains: bool):
        work = tmp_path / "work"
        work.mkdir()
        (work / "train.jsonl").write_text('{"step": 1}\n')
        stage = SimpleNamespace(spec=SimpleNamespace(train=object() if trains else None))
        return SimpleNamespace(stage=stage, work_folder=work, task=Classification(path=str(rows_csv)))

    return build


@pytest.mark.parametrize("trains", [True, False])
def test_the_model_is_written_for_every_engine_and_the_log_where_it_trained(job, tmp_path, trains):
    folder = tmp_path / "stage"
    folder.mkdir()
    model = tiny.model("bert", layers=1)
    publish(job(trains), model, folder)
    assert {path.name for path in (folder / "model").iterdir()} >= {
        *("config.json", "model.safetensors", "tokenizer.json", "model.onnx"),
        *([PROGRAM] if best() else []),
    }
    assert (folder / "train.jsonl").exists() == trains
    assert load_folder(folder / "model").parameters() == model.parameters()


class Tuned(Classification):
    """Chooses a threshold on the validation rows."""

    seen: ClassVar[list[tuple[int, int]]] = []

    def tuned(self, logits, rows, table):
        self.seen.append((len(logits), table.num_rows))
        return Labels(threshold=0.25)


def test_a_threshold_is_tuned_on_the_saved_model_and_stored(tmp_path, rows_csv):
    model = tiny.model("bert", layers=1)
    tiny.with_graphs(model, tmp_path / "model")
    task = Tuned(path=str(rows_csv))
    tune_threshold(task, model, tmp_path / "model")
    number = task.splits()["validation"].num_rows
    assert Tuned.seen == [(number, number)]
    assert read_json(tmp_path / "model" / "config.json")["niwaki_answer"]["threshold"] == 0.25


def test_tasks_without_thresholds_open_no_model(tmp_path, rows_csv, monkeypatch):
    monkeypatch.setattr(module, "Predictor", lambda folder: pytest.fail("was opened"))
    tune_threshold(Classification(path=str(rows_csv)), tiny.model("bert", layers=1), tmp_path)
