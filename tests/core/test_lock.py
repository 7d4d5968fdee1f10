"""One process at a time in a folder."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from niwaki.core.errors import InputError
from niwaki.core.lock import locked

HOLDER = """
import sys, time
from pathlib import Path
from niwaki.core.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_rejected_until_the_first_ends(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=f"is in use by process {holder.pid}; wait for it"),
            locked(tmp_path / "run"),
        ):
            pass
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
    with locked(tmp_path / "run"):
        assert (tmp_path / "run" / ".lock").read_text() == str(os.getpid())
    with locked(tmp_path / "run"):  # and given back when left
        pass


def test_a_number_left_behind_holds_nobody_up_whoever_has_it_now(tmp_path):
    """The number of a killed run may by now be another process's, this one's or nobody's."""
    for left in (b"1", str(os.getppid()).encode(), b"99999999", b"\xff\0", b""):
        (tmp_path / ".lock").write_bytes(left)
        with locked(tmp_path):
            assert (tmp_path / ".lock").read_text() == str(os.getpid())


@pytest.mark.parametrize("content", [b"\xff\xfe", b"12\n34", b"", b"9" * 500])
def test_a_held_lock_with_damaged_content_is_rejected(tmp_path, content):
    with locked(tmp_path):
        (tmp_path / ".lock").write_bytes(content)
        with pytest.raises(InputError, match=r"is in use by process (unknown|9{20});") as caught, locked(tmp_path):
            pass
        assert "\n" not in str(caught.value)


def test_a_disk_without_locks_is_not_mistaken_for_another_run(tmp_path, monkeypatch):
    def flock(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(InputError, match=r"cannot be locked \(No locks available\)"), locked(tmp_path):
        pass


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_lock_that_is_a_link_is_rejected_and_its_target_untouched(tmp_path, link):
    (tmp_path / "run").mkdir()
    (tmp_path / "precious").write_text("precious")
    link(tmp_path / "precious", tmp_path / "run" / ".lock")
    with pytest.raises(InputError, match=r"\.lock: is not a plain file"), locked(tmp_path / "run"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_lock_that_is_no_file_is_rejected(tmp_path, make):
    make(tmp_path / ".lock")
    with pytest.raises(InputError, match=r"\.lock: is not a plain file"), locked(tmp_path):
        pass
