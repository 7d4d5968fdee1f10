"""What the steps of a stage share."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from niwaki.run.steps.job import StageJob
from niwaki.train.loop import Interrupted


def job(should_stop, beats):
    spec = SimpleNamespace(name="student")
    stage = SimpleNamespace(spec=spec, folder="stages/student-1", work_folder="stages/.work-student-1")
    plan = SimpleNamespace(stage=lambda name: SimpleNamespace(folder=f"stages/{name}-2"))
    return StageJob(plan, stage, Path("run"), SimpleNamespace(beat=lambda: beats.append(1)), should_stop)


def test_folders_are_below_the_run():
    tested = job(lambda: False, [])
    assert tested.target == Path("run/stages/student-1") and tested.work_folder == Path("run/stages/.work-student-1")
    assert tested.model_folder("teacher") == Path("run/stages/teacher-2/model")


@pytest.mark.parametrize("stop", [True, False])
def test_every_tick_charges_the_ledger_and_a_stop_interrupts(stop):
    beats = []
    tested = job(lambda: stop, beats)
    assert tested.tick() is stop
    if stop:
        with pytest.raises(Interrupted):
            tested.stop_if_requested()
    else:
        tested.stop_if_requested()
    assert len(beats) == 2
