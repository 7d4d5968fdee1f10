"""The rest of what a run must survive: Ctrl-C twice, a second run, a folder that cannot be written to, any umask."""

import os
import signal
import stat
import time

import pytest

from niwaki.core.files import fault_in_folder
from reliability import aimed
from reliability.same import differences
from run import small

INTERRUPTED, REJECTED = 130, 3


def begin_training(recipe_file, out, log):
    """A run whose teacher is being trained."""
    process = small.begin(aimed.command(recipe_file, out), log)
    while not list(out.glob("stages/.work-teacher-*/checkpoint-*")):
        assert process.is_alive(), log.read_text()
        time.sleep(0.001)
    return process


def test_ctrl_c_twice_stops_at_once_and_the_same_command_goes_on(tmp_path, recipe_file, undisturbed):
    out, log = tmp_path / "run", tmp_path / "log"
    process = begin_training(recipe_file, out, log)
    for _ in range(2):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.01)
    process.join()
    output = log.read_text()
    assert process.exitcode == INTERRUPTED and "Traceback" not in output
    assert all(fault_in_folder(folder) is None for folder in out.glob("stages/.work-*/checkpoint-*"))
    process = small.begin(aimed.command(recipe_file, out), log)
    process.join()
    assert process.exitcode == 0 and differences(out, undisturbed) == []


def test_a_second_run_is_rejected_with_the_process_id_of_the_first(tmp_path, recipe_file):
    out, log, second = tmp_path / "run", tmp_path / "log", tmp_path / "second"
    first = begin_training(recipe_file, out, log)
    os.kill(first.pid, signal.SIGSTOP)  # it holds the folder though it does nothing
    try:
        other = small.begin(["run", str(recipe_file), "--out", str(out)], second)
        other.join()
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.join()
    assert other.exitcode == REJECTED
    assert (
        second.read_text() == f"niwaki: {out}: is in use by process {first.pid}; wait for it or choose another folder\n"
    )


@pytest.mark.parametrize("umask", [0o027, pytest.param(0o002, marks=pytest.mark.slow)])
def test_modes_follow_the_umask(tmp_path, recipe_file, umask):
    """Of every file and folder of a run: what is committed, what is appended to, what is replaced."""
    out = tmp_path / "run"
    process = small.forkserver().Process(target=_child, args=(umask, str(recipe_file), str(out), str(tmp_path / "log")))
    process.start()
    process.join()
    assert process.exitcode == 0, (tmp_path / "log").read_text()
    for path in (out, *out.rglob("*")):
        wanted = (0o777 if path.is_dir() else 0o666) & ~umask
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path


def _child(umask, recipe, out, log) -> None:
    os.umask(umask)
    small._child(
        [
            "run",
            recipe,
            "--out",
            out,
            "--quiet",
            "--set",
            "stages.0.train.epochs=0.1",
            "--set",
            "stages.1.train.epochs=0.1",
            "--set",
            "stages.2.train.epochs=0.1",
        ],
        log,
    )


def test_a_folder_that_cannot_be_written_is_rejected(tmp_path, recipe_file):
    if os.geteuid() == 0:  # root may write everywhere, but not here
        out = "/proc/run"
    else:
        (tmp_path / "closed").mkdir(mode=0o555)
        out = str(tmp_path / "closed" / "run")
    log = tmp_path / "log"
    process = small.begin(["run", str(recipe_file), "--out", out], log)
    process.join()
    assert process.exitcode == REJECTED
    assert log.read_text().count("\n") == 1 and "cannot be written to" in log.read_text()


def test_missing_memory_is_reported_before_work(tmp_path, recipe_file, monkeypatch):
    from niwaki import api
    from niwaki.core import files
    from niwaki.core.errors import InputError

    monkeypatch.setattr(files, "free_memory", lambda: 1000)
    monkeypatch.setattr(files, "ALWAYS_FREE", 0)
    with pytest.raises(InputError, match=r"this run needs about .* MB of memory and 0 MB are free"):
        api.run(recipe_file, out=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").rglob("*")] == [".lock"]
