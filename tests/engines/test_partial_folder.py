"""Only folders of the same user's niwaki are opened, truncated or removed."""

import os
import re
import subprocess
import sys
import time

import pytest

from niwaki.core.errors import InputError
from niwaki.engines import partial_folder
from niwaki.engines.partial_folder import ANSWERS, STATE, folders_of, locked_folder, open_folder
from niwaki.engines.partial_output import open_output

SETTINGS = {"model": "a"}
PRECIOUS = b"precious"
KILLED = """
import os, signal, sys
from pathlib import Path
from niwaki.engines.partial_output import open_output
with open_output(Path(sys.argv[1]), {"model": "a"}) as part:
    part.add(b"1\\n", 1, 0, "hash")
    part.save()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "out.jsonl"


@pytest.fixture
def precious(tmp_path):
    path = tmp_path / "precious"
    path.write_bytes(PRECIOUS)
    return path


@pytest.fixture
def left(out):
    """The folder that a killed process left."""
    subprocess.run([sys.executable, "-c", KILLED, str(out)], check=False)
    (folder,) = folders_of(out)
    return folder


def finished(out):
    with open_output(out, SETTINGS) as part:
        before = part.state.inputs
        part.add(b"2\n", 1, 0, "more")
        part.finish()
    return before, out.read_bytes()


@pytest.mark.parametrize(
    "name", ["out.jsonl.part", "out.jsonl.part.json", ".out.jsonl.partial", ".out.jsonl.partial-aaaaaaaa"]
)
@pytest.mark.parametrize("link", [os.symlink, os.link, None])
def test_files_next_to_the_output_are_not_touched(out, precious, name, link):
    other = out.with_name(name)
    link(precious, other) if link else other.write_bytes(PRECIOUS)
    assert finished(out) == (0, b"2\n")
    assert precious.read_bytes() == other.read_bytes() == PRECIOUS and sorted(out.parent.iterdir()) == sorted(
        [other, out]
    )


def test_a_killed_process_is_resumed_and_leaves_nothing(out, left):
    assert re.fullmatch(r"\.out\.jsonl\.partial-\w{8}", left.name) and left.stat().st_mode & 0o777 == 0o700
    assert finished(out) == (1, b"1\n2\n")
    assert list(out.parent.iterdir()) == [out]


def test_a_link_to_a_folder_is_not_resumed_from(out, left, tmp_path):
    left.rename(tmp_path / "elsewhere")
    left.symlink_to(tmp_path / "elsewhere")
    assert not folders_of(out) and finished(out) == (0, b"2\n")
    assert (tmp_path / "elsewhere" / ANSWERS).read_bytes() == b"1\n"


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_answers_that_are_a_link_are_not_opened(out, left, precious, link):
    (left / ANSWERS).unlink()
    link(precious, left / ANSWERS)
    with pytest.raises(InputError, match=r"link|plain file"), open_output(out, SETTINGS):
        pass
    with pytest.raises(InputError, match=r"link|plain file"), open_output(out, SETTINGS, force=True):
        pass
    assert precious.read_bytes() == PRECIOUS


def test_a_state_that_is_a_link_is_replaced_and_not_followed(out, left, precious):
    (left / STATE).unlink()
    (left / STATE).symlink_to(precious)
    with pytest.raises(InputError, match=r"link|plain file"), open_output(out, SETTINGS):
        pass
    assert precious.read_bytes() == PRECIOUS


def test_folder_of_another_user_is_ignored(out, left, monkeypatch):
    monkeypatch.setattr(partial_folder.os, "geteuid", lambda: left.stat().st_uid + 1)
    assert not folders_of(out)
    with pytest.raises(PermissionError), open_folder(left):
        pass


def test_output_with_a_longer_name_is_not_confused(out):
    longer = out.with_name("out.jsonl.partial-x")
    with open_output(longer, SETTINGS) as part:
        part.add(b"1\n", 1, 0, "hash")
    assert folders_of(longer) and not folders_of(out)


def test_leftovers_that_cannot_be_resumed_are_removed(out, left):
    """Killed between the last renaming and the removal, or before the first file."""
    (left / ANSWERS).rename(out)
    empty, young = (out.with_name(f".out.jsonl.partial-{sign * 8}") for sign in "ab")
    empty.mkdir()
    young.mkdir()
    os.utime(empty, (time.time() - 3600,) * 2)
    with pytest.raises(InputError, match="exists already"), open_output(out, SETTINGS):
        pass
    assert sorted(out.parent.iterdir()) == sorted([young, out])


def test_newest_of_several_folders_is_resumed(out, left):
    older = out.with_name(".out.jsonl.partial-aaaaaaaa")
    older.mkdir()
    (older / ANSWERS).write_bytes(b"old")
    os.utime(older, (1, 1))
    assert finished(out) == (1, b"1\n2\n") and list(out.parent.iterdir()) == [out]


def test_two_processes_at_the_same_time_do_not_both_write(out, monkeypatch):
    with locked_folder(out):
        seen = iter([[], [], folders_of(out) * 2])
        monkeypatch.setattr(partial_folder, "folders_of", lambda out: next(seen))
        with pytest.raises(InputError, match="is being written by another process"), locked_folder(out):
            pass
        monkeypatch.undo()
        assert len(folders_of(out)) == 1


def test_link_in_place_of_the_output_is_not_replaced(out, tmp_path):
    out.symlink_to(tmp_path / "nothing")
    with pytest.raises(InputError, match="exists already"), open_output(out, SETTINGS):
        pass
    assert out.is_symlink()
