"""Files that are whole or not there: whatever fails on the way, what was there before stays."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core import files
from niwaki.core.errors import InputError, NiwakiError


def commit(target: Path, **content: str) -> None:
    with files.commit_folder(target) as folder:
        for name, text in content.items():
            (folder / name).write_text(text)
        (folder / "below").mkdir()
        (folder / "below" / "deep.txt").write_text("deep")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_committed_folder_is_complete_and_leaves_no_temporary_files(tmp_path):
    commit(tmp_path / "a", x="1", y="")
    assert files.fault_in_folder(tmp_path / "a") is None
    assert names(tmp_path) == ["a"]
    manifest = json.loads((tmp_path / "a" / "MANIFEST").read_text())
    assert set(manifest["files"]) == {"x", "y", "below/deep.txt"}


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")]
)
def test_an_exception_inside_leaves_the_old_one(tmp_path, error):
    commit(tmp_path / "a", x="old")
    wanted = NiwakiError if isinstance(error, OSError) else type(error)
    with pytest.raises(wanted) as caught, files.commit_folder(tmp_path / "a") as folder:
        (folder / "x").write_text("new")
        raise error
    if isinstance(error, OSError):
        assert "could not be saved (No space left on device); what was there before is intact" in str(caught.value)
    assert (tmp_path / "a" / "x").read_text() == "old" and files.fault_in_folder(tmp_path / "a") is None
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("call", range(8))
def test_a_disk_that_fails_at_any_flush_leaves_old_or_new(tmp_path, monkeypatch, call):
    commit(tmp_path / "a", x="old")
    real, count = os.fsync, iter(range(1000))

    def flush(handle):
        if next(count) == call:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", flush)
    try:
        commit(tmp_path / "a", x="new")
    except NiwakiError:
        failed = True
    else:
        failed = False
    monkeypatch.undo()
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == ["a"] and files.fault_in_folder(tmp_path / "a") is None
    assert (tmp_path / "a" / "x").read_text() in (("old", "new") if failed else ("new",))
    assert failed == (next(count) > call)


@pytest.mark.parametrize("place", [0, 1])
def test_a_rename_that_fails_leaves_the_old_one_in_its_place(tmp_path, monkeypatch, place):
    commit(tmp_path / "a", x="old")
    real, count = Path.rename, iter(range(100))

    def rename(self, target):
        if next(count) == place:
            raise OSError(errno.EIO, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(NiwakiError, match="intact"):
        commit(tmp_path / "a", x="new")
    monkeypatch.undo()
    assert (tmp_path / "a" / "x").read_text() == "old" and names(tmp_path) == ["a"]


def test_a_folder_that_cannot_be_begun_or_read_back_names_what_was_to_be_saved(tmp_path, monkeypatch):
    commit(tmp_path / "a", x="old")
    line = rf"^{tmp_path / 'a'}: could not be saved \({{}}\); what was there before is intact$"
    with (
        pytest.raises(NiwakiError, match=line.format("x: cannot be read")) as caught,
        files.commit_folder(tmp_path / "a") as folder,
    ):
        raise InputError(f"{folder / 'x'}: cannot be read")
    assert caught.value.exit_code == 1
    with pytest.raises(InputError, match="another matter"), files.commit_folder(tmp_path / "b"):
        raise InputError("another matter")

    def mkdir(self, *args, **kwargs):
        if ".tmp-" in self.name:
            raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(NiwakiError, match=line.format("No space left on device")):
        commit(tmp_path / "a", x="new")


FULL = """
import resource, sys, numpy
from pathlib import Path
from safetensors.numpy import save_file
from niwaki.core.files import commit_folder
from niwaki.core.errors import NiwakiError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    with commit_folder(Path(sys.argv[1])) as folder:
        save_file({"x": numpy.zeros(1_000_000, "float32")}, folder / "x.safetensors")
except NiwakiError as error:
    sys.exit(str(error))
"""


def test_weights_that_do_not_fit_are_one_line(tmp_path):
    commit(tmp_path / "a", x="old")
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "a")], capture_output=True, text=True)
    assert done.stderr.count("\n") == 1 and "could not be saved" in done.stderr and "intact" in done.stderr
    assert (tmp_path / "a" / "x").read_text() == "old" and names(tmp_path) == ["a"]


@given(data=some.data())
def test_every_damage_is_seen(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("damage") / "a"
    commit(folder, x="some text", y="more")
    path = folder / data.draw(some.sampled_from(["x", "y", "below/deep.txt"]))
    content = bytearray(path.read_bytes())
    kind = data.draw(some.sampled_from(["flip", "cut", "append", "remove"]))
    if kind == "flip":
        content[data.draw(some.integers(0, len(content) - 1))] ^= 1 << data.draw(some.integers(0, 7))
    path.unlink() if kind == "remove" else path.write_bytes(
        content[:-1] if kind == "cut" else content + b"!" if kind == "append" else content
    )
    assert files.fault_in_folder(folder).startswith(str(path))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", '{"files": []}', '{"files": {"x": 3}}', '{"files": {"x": {}}}', '{"files": null}'],
)
def test_a_damaged_manifest_is_a_fault(tmp_path, text):
    commit(tmp_path / "a", x="1")
    (tmp_path / "a" / "MANIFEST").write_text(text)
    assert "is damaged" in files.fault_in_folder(tmp_path / "a")


def test_an_unfinished_folder_is_a_fault(tmp_path):
    assert "is not a folder" in files.fault_in_folder(tmp_path / "no")
    assert "never finished" in files.fault_in_folder(tmp_path)


def test_sweep_removes_halves_and_puts_back_what_was_being_replaced(tmp_path):
    commit(tmp_path / "kept", x="1")
    commit(tmp_path / "lost", x="2")
    (tmp_path / "lost").rename(tmp_path / ".lost.old-12345678")
    (tmp_path / ".kept.old-12345678").mkdir()
    (tmp_path / ".new.tmp-12345678").mkdir()
    (tmp_path / ".text.tmp-12345678").write_text("half")
    (tmp_path / ".work-stage").mkdir()
    (tmp_path / "plain.tmp-1").write_text("a user's own")
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == [".work-stage", "kept", "lost", "plain.tmp-1"]
    assert files.fault_in_folder(tmp_path / "lost") is None
    files.remove_leftovers(tmp_path / "nothing")


def test_write_text_replaces_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError):
        files.write_text(path, "new and longer")
    assert path.read_text() == "old" and names(tmp_path) == ["a.txt"]


def test_append_line_closes_off_a_torn_line(tmp_path):
    path = tmp_path / "a.jsonl"
    files.append_line(path, {"n": 1})
    with path.open("a") as file:
        file.write('{"n": 2, "torn')
    files.append_line(path, {"n": 3, "text": "é\n"})
    assert files.read_lines(path) == [{"n": 1}, {"n": 3, "text": "é\n"}]
    assert path.read_text().endswith("\n")
    assert files.read_lines(tmp_path / "none") == []


@given(data=some.data())
def test_a_damaged_line_is_named_and_passed_over_and_no_other(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    values = [{"n": number, "text": "a\u2028b\x85c é", "joules": 1.25} for number in range(3)]
    for value in values:
        files.append_line(path, value)
    content = bytearray(path.read_bytes())
    place = data.draw(some.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(some.integers(0, 7))
    path.write_bytes(content)
    found = files.read_lines(path)
    for value in found:  # what is read is what was written; the first line may lose the name of its checksum unseen
        assert value in values or {key: value.get(key) for key in values[0]} == values[0]
    assert len(found) >= len(values) - 2  # the end of a line joins two


def test_a_line_without_a_checksum_counts_until_the_first_that_has_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\n{"n": 2}\n')
    files.append_line(path, {"n": 3})
    with path.open("a") as file:
        file.write('{"n": 4}\n' + files.line({"n": 5}).replace("crc", "crb") + "\n")
    files.append_line(path, {"n": 6})
    assert [value["n"] for value in files.read_lines(path)] == [1, 2, 3, 6]


def test_a_damaged_line_is_reported_once(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("niwaki.core.log._quiet", False)
    path = tmp_path / "a.jsonl"
    files.append_line(path, {"joules": 1})
    path.write_text(path.read_text().replace("1", "9", 1))
    assert files.read_lines(path) == files.read_lines(path) == []
    assert capsys.readouterr().err == f"{path}: line 1 is torn or damaged and is passed over\n"


def test_a_line_that_the_disk_takes_in_parts_is_written_whole(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, text: write(handle, text[:3]))
    files.append_line(tmp_path / "a.jsonl", {"n": 1})
    assert files.read_lines(tmp_path / "a.jsonl") == [{"n": 1}]


@pytest.mark.parametrize("call", [lambda path: files.write_text(path, "new"), lambda path: files.append_line(path, {})])
def test_an_error_of_the_system_names_the_file_that_was_meant(tmp_path, monkeypatch, call):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as caught:
        call(tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")


def test_read_json_rejects_in_one_line(tmp_path):
    for text in ("{", "\xff", "[" * 100_000):
        (tmp_path / "x").write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError) as caught:
            files.read_json(tmp_path / "x")
        assert "\n" not in str(caught.value)


def test_require_space(tmp_path):
    files.require_space(tmp_path / "not" / "there", 1, "it")
    with pytest.raises(InputError, match=r"stage 'x' needs about .* MB .* free some space"):
        files.require_space(tmp_path / "not" / "there", 10**18, "stage 'x'")


def test_fingerprint_knows_content_not_order():
    assert files.fingerprint({"a": 1, "b": [1, 2]}) == files.fingerprint({"b": [1, 2], "a": 1})
    assert files.fingerprint({"a": 1}) != files.fingerprint({"a": 2}) != files.fingerprint({"a": "2"})


def test_saved_files_can_be_read_by_others(tmp_path):
    with files.commit_folder(tmp_path / "a") as folder:
        (folder / "x").touch(mode=0o600)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a" / "x").stat().st_mode & 0o777 == 0o666 & ~mask


def test_require_writable(tmp_path):
    files.require_writable(tmp_path / "not" / "there")
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"cannot be written to \(.*\); choose another folder"):
        files.require_writable(Path("/proc/self/run"))


def test_require_memory(monkeypatch):
    files.require_memory(2 << 20, "it")
    with monkeypatch.context() as patch:
        patch.setattr(files, "free_memory", lambda: 0)
        files.require_memory(files.ALWAYS_FREE, "it")
        with pytest.raises(InputError, match="it needs about"):
            files.require_memory(files.ALWAYS_FREE + 1, "it")
    with pytest.raises(InputError, match=r"this run needs about .* MB of memory and .* MB are free"):
        files.require_memory(10**18, "this run")


def test_what_came_after_a_commit_is_not_listed(tmp_path):
    commit(tmp_path / "a", x="1")
    (tmp_path / "a" / "later").write_text("2")
    assert (
        files.committed_files(tmp_path / "a") == {"x", "below/deep.txt"}
        and files.fault_in_folder(tmp_path / "a") is None
    )
