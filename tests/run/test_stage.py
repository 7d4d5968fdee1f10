"""The order of the steps of a stage, and what a finished or interrupted one leaves."""

from types import SimpleNamespace

import pytest

from niwaki.run import stage as module
from niwaki.run.stage import make_stage, train_model
from niwaki.train.loop import Interrupted


class Steps(list):
    """The steps that ran, in order."""

    def step(self, name, result=None):
        def run(*given):
            self.append(name)
            return result if not callable(result) else result(*given)

        return run


@pytest.fixture
def steps(monkeypatch):
    found = Steps()
    monkeypatch.setattr(module, "choose", found.step("choose", lambda job, run: (job, None)))
    monkeypatch.setattr(module, "load_start_model", found.step("load", "model"))
    monkeypatch.setattr(module, "require_disk_space", found.step("space"))
    monkeypatch.setattr(module, "TrainingData", lambda job: SimpleNamespace(features=found.step("encode", "features")))
    monkeypatch.setattr(module, "load_teachers", found.step("teachers", {"big": "teacher"}))
    monkeypatch.setattr(module, "method_context", lambda job, data, teacher: f"context of {teacher}")
    monkeypatch.setattr(module, "prepare", found.step("prepare", lambda job, model, context: f"prepared {model}"))
    monkeypatch.setattr(module, "teacher_outputs", found.step("teach", "outputs"))
    monkeypatch.setattr(module, "train", found.step("train", "state"))
    monkeypatch.setattr(module, "finish", found.step("finish", lambda job, model: f"finished {model}"))
    monkeypatch.setattr(module, "publish", found.step("publish", lambda job, model, folder: (folder / "model").mkdir()))
    monkeypatch.setattr(module, "measure", found.step("measure"))
    return found


@pytest.fixture
def job(tmp_path, quick_disk):
    def build(trains: bool = True):
        work = tmp_path / "stages" / ".work-a"
        work.mkdir(parents=True)
        spec = SimpleNamespace(train=object() if trains else None)
        target = tmp_path / "stages" / "a-0123"
        return SimpleNamespace(stage=SimpleNamespace(spec=spec), target=target, work_folder=work)

    return build


def test_a_stage_goes_through_all_steps_and_is_committed(steps, job):
    one = job()
    make_stage(one)
    assert steps == [
        *("choose", "load", "space", "teachers", "prepare", "encode", "teach", "train"),
        *("finish", "publish", "measure"),
    ]
    assert (one.target / "MANIFEST").is_file() and (one.target / "model").is_dir() and not one.work_folder.exists()


def test_without_training_nothing_is_encoded_or_taught(steps, job):
    assert train_model(job(trains=False)) == ("prepared model", None)
    assert steps == ["load", "space", "teachers", "prepare"]


def test_the_model_before_finishing_and_the_state_are_returned(steps, job):
    assert train_model(job()) == ("prepared model", "state")


@pytest.mark.parametrize("step", ["train", "measure"])
def test_an_interrupted_stage_leaves_its_work_and_no_result(steps, job, monkeypatch, step):
    def interrupt(*given):
        raise Interrupted

    monkeypatch.setattr(module, step, interrupt)
    one = job()
    with pytest.raises(Interrupted):
        make_stage(one)
    assert one.work_folder.is_dir() and not one.target.exists()


def test_a_compared_alternative_leaves_no_checkpoints(steps, job, monkeypatch):
    """`choose` trains alternatives through a function; each starts without the checkpoints of the one before."""
    one = job()

    def choose(job, run):
        steps.append("choose")
        (job.work_folder / "checkpoint").mkdir()
        assert run(job) == "finished prepared model" and not job.work_folder.exists()
        return job, "choice"

    monkeypatch.setattr(module, "choose", choose)
    make_stage(one)
    assert steps.count("train") == steps.count("finish") == 2 and one.target.is_dir()
