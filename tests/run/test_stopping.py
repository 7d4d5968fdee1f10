"""SIGTERM during any long operation ends a run without waiting for it; the same command then gives the same weights."""

import os
import shutil
import signal
import time
from collections.abc import Callable

import pytest

from niwaki import api
from niwaki.core import signals
from niwaki.train.loop import _Fit
from run import small

STAGE = "stages/int8-*"
PLACES = {  # the operation during which SIGTERM arrives → what is deleted from a finished run, so that the operation runs
    "niwaki.evaluate.baseline.run_baselines": ["baseline.json"],
    "niwaki.run.runner.comparisons": ["comparisons.json"],
    "niwaki.evaluate.speed.race": ["speed.json"],
    "niwaki.run.steps.publish.write_graph": [STAGE],
    "niwaki.run.stage.measure": [STAGE],
    "niwaki.train.teacher.CachedTeacherFunction._block": ["stages/student-*"],
    "niwaki.objectives.supervised.Supervised.score": ["stages/student-*"],
    "niwaki.run.runner.make_plan": [],
}


def endless(went_on: list[bool]) -> Callable[..., None]:
    """An operation that receives SIGTERM and, like the code of a library, never checks whether it should stop."""

    def operation(*given, **more):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
        went_on.append(True)

    return operation


def resumed(recipe_file, folder, finished):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        api.run(recipe_file, out=folder)
    assert small.weights(folder) == small.weights(finished) and small.histories(folder) == small.histories(finished)


@pytest.mark.parametrize("place", PLACES)
def test_sigterm_does_not_wait_for_an_operation_that_never_checks(place, recipe_file, copy, finished, monkeypatch):
    for pattern in PLACES[place]:
        for path in copy.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    monkeypatch.setattr(signals, "GRACE_SECONDS", 0.2)
    went_on: list[bool] = []
    with monkeypatch.context() as patch:
        patch.setattr(place, endless(went_on))
        with pytest.raises(KeyboardInterrupt):
            api.run(recipe_file, out=copy)
    assert not went_on
    if place.endswith((".score", "_block")):
        resumed(recipe_file, copy, finished)


def test_a_stop_before_validation_saves_and_validates_later(recipe_file, tmp_path, finished, monkeypatch):
    step, stopped = _Fit._step, []

    def stopping(self):
        loss = step(self)
        if self._due() and not stopped:
            stopped.append(self.state.step)
            os.kill(os.getpid(), signal.SIGTERM)
        return loss

    def validate(self):
        raise AssertionError("a stop waits for no validation")

    with monkeypatch.context() as patch:
        patch.setattr(_Fit, "_step", stopping)
        patch.setattr(_Fit, "_validate", validate)
        with pytest.raises(KeyboardInterrupt):
            api.run(recipe_file, out=tmp_path / "run")
    assert list((tmp_path / "run").glob(f"stages/.work-teacher-*/checkpoint-{stopped[0]:08d}"))
    resumed(recipe_file, tmp_path / "run", finished)
