"""After Ctrl-C the same command resumes and gives the weights of an undisturbed run. kill -9 is in tests/reliability."""

import os
import signal
from pathlib import Path

from niwaki.core.files import fault_in_folder
from run import small

INTERRUPTED = 130


def interrupt_training() -> None:
    """Makes this process send itself SIGINT after the third training step."""
    from niwaki.train.loop import _Fit

    step = _Fit._step

    def interrupting(self: _Fit) -> float:
        loss = step(self)
        if self.state.step == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return loss

    _Fit._step = interrupting  # type: ignore[method-assign]


def run_to_end(arguments: list[str], log: Path) -> None:
    process = small.begin(arguments, log)
    process.join()
    assert process.exitcode == 0, log.read_text()


def assert_same(run: Path, undisturbed: Path) -> None:
    assert small.weights(run) == small.weights(undisturbed)
    assert small.histories(run) == small.histories(undisturbed)
    assert all(fault_in_folder(folder) is None for folder in run.glob("stages/*"))
    assert [path.name for path in run.rglob(".*")] == [".lock"], "something half-written is left"


def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path, recipe_file, finished):
    out, log = tmp_path / "run", tmp_path / "log"
    arguments = ["run", str(recipe_file), "--out", str(out)]
    process = small.begin(arguments, log, prepare=interrupt_training)
    process.join()
    assert process.exitcode == INTERRUPTED
    assert list(out.glob("stages/.work-teacher-*/checkpoint-*/MANIFEST")), "nothing was saved"
    assert not list(out.glob("stages/teacher-*"))
    output = log.read_text()
    assert "niwaki: interrupted; what was finished is kept" in output and "Traceback" not in output
    run_to_end(arguments, log)
    assert_same(out, finished)
    statuses = [line["status"] for line in _charges(out) if line["stage"] == "teacher"]
    assert statuses == ["interrupted", "done"]


def _charges(run: Path) -> list[dict]:
    from niwaki.meter.ledger import Ledger

    return Ledger(run / "ledger.jsonl").lines()
