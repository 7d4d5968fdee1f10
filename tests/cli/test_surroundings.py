"""A deleted working directory, little memory and names that are not UTF-8 are reported in one line, not by a library's error."""

import os
import resource
import subprocess
import sys

import pytest

from niwaki import api
from niwaki.cli import _app
from niwaki.core.errors import InputError

VERBS = sorted(_app.MAPPED)  # that import libraries
PROGRAM = [sys.executable, "-c", "from niwaki.cli import main; main()"]


@pytest.mark.parametrize("verb", VERBS)
def test_deleted_working_directory_is_reported(verb, tmp_path, rejected, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert "the working directory is gone" in rejected(verb, "x")
    assert _app.run([verb, "--help"]) == 0


@pytest.mark.parametrize("verb", [*VERBS, "show", "report", "ledger"])
def test_names_that_are_not_utf_8_are_rejected(verb, rejected):
    assert "'r\\udcff': is not UTF-8; rename the file" in rejected(verb, os.fsdecode(b"r\xff"))
    assert "is not UTF-8" in rejected(verb, "x", "--out", os.fsdecode(b"r\xff"))


@pytest.mark.parametrize("verb", ["check", "predict", "run"])
@pytest.mark.parametrize("megabytes", [150, 250, 400])
def test_low_address_space_limit_is_reported_before_a_library_fails(verb, megabytes, tmp_path):
    limit = megabytes << 20
    done = subprocess.run(
        [*PROGRAM, verb, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert f"the limit on address space (`ulimit -v`) is {megabytes} MB of memory" in done.stderr


@pytest.mark.parametrize(
    "wrapped", [None, InputError("config.json: is damaged"), ImportError("Module onnx is not installed!")]
)
@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("x.so: failed to map segment from shared object"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_lack_of_memory_is_reported_whatever_the_error_says(niwaki, tmp_path, monkeypatch, wrapped, error):
    def fail(*given, **more):
        try:
            raise error
        except Exception:
            if wrapped is None:
                raise
            raise wrapped from None

    monkeypatch.setattr(api, "load", fail)
    monkeypatch.delenv("NIWAKI_DEBUG", raising=False)
    result = niwaki("predict", tmp_path, "a text")
    assert result.code == 1 and result.faults == [f"niwaki: {_app.LOW_MEMORY}"]
