"""niwaki imports and predicts on systems that lack what Linux has. Other systems are simulated by removing it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import tiny
from niwaki.core import system

# runs first in a new process: imports the libraries, then removes what the named system lacks
SIMULATION = """
import builtins, io, os, signal, sys, time, types
import numpy, onnxruntime, pydantic, safetensors.numpy, tokenizers, typer, rich.progress
import asyncio, concurrent.futures, ctypes, multiprocessing, platform, shutil, subprocess, tempfile, uuid
{first}

def without(module, *names):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

def refusing(function):
    def opened(path, *rest, **more):
        if str(path).startswith(("/proc", "/sys/")):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return function(path, *rest, **more)
    return opened

builtins.open, io.open, os.open = refusing(open), refusing(io.open), refusing(os.open)
without(os, "sched_getaffinity", "memfd_create", "unshare", "posix_fadvise")
without(time, "pthread_getcpuclockid")
sys.platform = "darwin"
if {windows}:
    sys.platform = "win32"
    for name in ("fcntl", "resource", "termios", "pwd", "grp"):
        sys.modules[name] = None
    sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda handle, how, size: None)
    os.supports_dir_fd = set()
    without(os, "getloadavg", "geteuid", "getuid", "sysconf", "pread", "pwrite", "waitid", "fork", "uname")
    without(os, "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "WEXITED", "WNOHANG", "WNOWAIT", "chown")
    without(signal, "SIGALRM", "setitimer", "ITIMER_REAL", "SIGKILL", "SIGHUP")
    os.O_BINARY = 0
"""
IMPORT_ALL = """
import importlib
from pathlib import Path
import niwaki
source = Path(niwaki.__file__).parent
for path in sorted(source.rglob("*.py")):
    name = ".".join(["niwaki", *path.relative_to(source).with_suffix("").parts]).removesuffix(".__init__")
    if not name.endswith("__main__"):
        importlib.import_module(name)
print("imported")
"""
FORGET = """
for name in [name for name in sys.modules if name.startswith("niwaki")]:
    del sys.modules[name]
"""
PREDICT = """
import niwaki
from niwaki.cli._app import run
from niwaki.core.signals import own_process, stopping
own_process()
print(niwaki.load({folder!r}).predict(["a lovely film"])[0].label)
with niwaki.meter() as window, stopping():
    assert run(["predict", {folder!r}, "--in", {rows!r}, "--out", {rows!r} + ".out", "--quiet"]) == 0
assert window.reading.cpu_seconds >= 0
assert run(["doctor", "--json"]) == 0
assert run(["list", "engines"]) == 0
"""


def simulate(name: str, code: str, first: str = "") -> str:
    script = SIMULATION.format(first=first, windows=name == "windows") + code
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.deployed(tiny.model("bert"), tmp_path_factory.mktemp("model") / "model")


@pytest.mark.parametrize("name", ["macos", "windows"])
def test_prediction_runs_on_other_systems(name, folder, tmp_path):
    (tmp_path / "rows.csv").write_text("id,text\n1,a lovely film\n2,a dull plot\n")
    code = PREDICT.format(folder=str(folder), rows=str(tmp_path / "rows.csv"))
    shown = simulate(name, FORGET + code, "import niwaki.api, niwaki.cli._app")
    assert shown.splitlines()[0] in tiny.LABELS
    assert len((tmp_path / "rows.csv.out").read_text().splitlines()) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"rows.csv", "rows.csv.out"}  # nothing is left over


@pytest.mark.slow
def test_every_module_can_be_imported_on_windows():
    assert simulate("windows", FORGET + IMPORT_ALL, IMPORT_ALL) == "imported\nimported\n"


def test_no_other_module_uses_what_only_some_systems_have():
    source = Path(system.__file__).parents[1]
    words = ("import fcntl", "import resource", "import msvcrt", "sched_getaffinity", "getloadavg", "os.O_NOFOLLOW")
    found = {
        (path.name, word)
        for path in source.rglob("*.py")
        for word in words
        if path.name != "system.py" and word in path.read_text(encoding="utf-8")
    }
    assert found == set()


def test_exclusive_lock_excludes_and_shared_locks_do_not(tmp_path):
    (tmp_path / "lock").touch()
    with (tmp_path / "lock").open("rb") as one, (tmp_path / "lock").open("rb") as other:
        system.lock(one, shared=True)
        system.lock(other, shared=True, wait=False)
        with pytest.raises(BlockingIOError):
            system.lock(other, wait=False)
    with (tmp_path / "lock").open("rb") as one, (tmp_path / "lock").open("rb") as other:
        system.lock(one)
        waiting = threading.Thread(target=system.lock, args=(other,), daemon=True)
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive()
        one.close()
        waiting.join(10)
        assert not waiting.is_alive()


def test_last_byte_of_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"ab\n")
    handle = os.open(tmp_path / "file", os.O_RDWR | os.O_APPEND)
    assert system.last_byte(handle) == b"\n"
    os.truncate(handle, 0)
    assert system.last_byte(handle) == b""
    os.close(handle)


def test_numbers_of_this_machine():
    assert 1 <= system.usable_cores() <= os.cpu_count()
    assert system.load_average() == pytest.approx(os.getloadavg()[0], abs=5)
    assert system.memory_bytes() > 1 << 28 and 0 < system.TICK_SECONDS <= 0.1
    assert system.own_cpu_seconds() > 0 and system.reaped_cpu_seconds() >= 0


def test_limits_are_lowered_and_unknown_ones_skipped():
    code = "from niwaki.core.system import address_space_limit, limit_process; limit_process({'RLIMIT_AS': 1 << 33, 'RLIMIT_NONE': 1}); print(address_space_limit())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 1 << 33
