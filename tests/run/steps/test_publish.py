"""What a finished stage's folder holds."""

from types import SimpleNamespace

import pytest

import tiny
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import PROGRAM
from niwaki.models.model import load_folder
from niwaki.objectives.supervised import Supervised
from niwaki.run.steps.publish import publish
from niwaki.tasks.classification import Classification


@pytest.fixture
def job(tmp_path, rows_csv):
    def build(trains: bool):
        work = tmp_path / "work"
        work.mkdir()
        (work / "train.jsonl").write_text('{"step": 1}\n')
        stage = SimpleNamespace(spec=SimpleNamespace(train=object() if trains else None))
        task = Classification(path=str(rows_csv))
        return SimpleNamespace(stage=stage, work_folder=work, task=task, objective=Supervised(task))

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
