"""An unfinished output is valid up to its state: incomplete lines are truncated, other runs are rejected, a full disk loses nothing."""

import json

import pytest

from niwaki.core.errors import InputError, NiwakiError
from niwaki.engines import partial_output
from niwaki.engines.partial_folder import ANSWERS, STATE, folders_of
from niwaki.engines.partial_output import OutputState, check_output_path, open_output

SETTINGS = {"model": "a", "engine": "onnx"}


def part_of(out):
    (folder,) = folders_of(out)
    return folder / ANSWERS


def state_of(out):
    (folder,) = folders_of(out)
    return folder / STATE


@pytest.fixture
def out(tmp_path):
    """Two inputs are kept, and a torn line lies behind them."""
    out = tmp_path / "out.jsonl"
    with open_output(out, SETTINGS) as part:
        part.add(b"1\n2\n", 2, 0, "hash")
        part.save()
        part.add(b"3\n4", 2, 0, "later")
    return out


def test_resumes_after_the_saved_state(out):
    assert part_of(out).read_bytes() == b"1\n2\n3\n4"
    with open_output(out, SETTINGS) as part:
        assert part.state == OutputState(settings=SETTINGS, inputs=2, bytes=4, read="hash")
        part.add(b"5\n", 1, 1, "end")
        part.finish()
    assert out.read_bytes() == b"1\n2\n5\n" and sorted(out.parent.iterdir()) == [out]


def test_force_starts_again(out):
    with open_output(out, {"model": "b"}, force=True) as part:
        assert part.state.inputs == 0
        part.add(b"9\n", 1, 0, "x")
        part.finish()
    with open_output(out, SETTINGS, force=True) as part:
        part.finish()
    assert out.read_bytes() == b""


def interrupted(out, settings, force):
    """The message of an interrupt after one more input."""
    with pytest.raises(KeyboardInterrupt) as stop, open_output(out, settings, force) as part:
        part.add(b"7\n", 1, 0, "x")
        raise KeyboardInterrupt
    return str(stop.value)


def test_forced_run_is_resumed_without_force(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    assert interrupted(out, SETTINGS, force=True).endswith("the same command without --force resumes there")
    check_output_path(out, False)
    with pytest.raises(InputError, match="another model"), open_output(out, {**SETTINGS, "model": "b"}):
        pass
    assert interrupted(out, SETTINGS, force=False).endswith("without --force resumes there")
    assert out.read_bytes() == b"old"
    with open_output(out, SETTINGS) as part:
        part.finish()
    assert out.read_bytes() == b"7\n7\n"
    with pytest.raises(InputError, match="exists already"), open_output(out, SETTINGS):
        pass


def test_force_of_another_run_does_not_count(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    with open_output(out, SETTINGS, force=True):
        pass
    with pytest.raises(InputError, match="exists already"), open_output(out, {**SETTINGS, "model": "b"}):
        pass
    assert interrupted(tmp_path / "new.jsonl", SETTINGS, force=False).endswith("the same command resumes there")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"settings": {**SETTINGS, "model": "b"}}, "was started with another model; --force"),
        ({"settings": {"engine": "torch"}}, "was started with another model and another engine"),
        ({"bytes": 99}, "is shorter than it was"),
        ({"bad": 1}, "give --skip-bad again"),
        ({"bytes": -1}, "bytes"),
        ({"else": 1}, "unknown key"),
    ],
)
def test_state_of_another_run_is_rejected(out, change, line):
    state_of(out).write_text(json.dumps({**json.loads(state_of(out).read_text()), **change}))
    before = part_of(out).read_bytes()
    with pytest.raises(InputError, match=line), open_output(out, SETTINGS, bad=False):
        pass
    assert part_of(out).read_bytes() == before


@pytest.mark.parametrize("text", ["[]", "{", '{"inputs": NaN}', "1"])
def test_damaged_state_is_rejected(out, text):
    state_of(out).write_text(text)
    with pytest.raises(InputError), open_output(out, SETTINGS):
        pass


@pytest.mark.parametrize("gone", [part_of, state_of])
def test_missing_answers_or_state_are_ignored(out, gone):
    gone(out).unlink()
    with open_output(out, SETTINGS) as part:
        assert part.state.inputs == 0 and part_of(out).stat().st_size == 0


def test_second_process_is_rejected(out):
    with (
        open_output(out, SETTINGS),
        pytest.raises(InputError, match="is being written by another process"),
        open_output(out, SETTINGS),
    ):
        pass


def test_full_disk_is_reported_and_saved_answers_remain(out, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, open_output(out, SETTINGS) as part:
        patch.setattr(partial_output._RetryingFile, "write", full)
        with pytest.raises(NiwakiError, match=r"answers\.jsonl: could not be written \(No space left.*resumes"):
            part.add(b"3\n", 1, 0, "x")
    with open_output(out, SETTINGS) as part:
        assert part.state.inputs == 2


def test_short_write_is_completed(out, monkeypatch):
    class Slow:
        def __init__(self):
            self.taken = b""

        def fileno(self):
            return 0

        def write(self, data):
            self.taken += bytes(data[:3])
            return min(3, len(data))

    slow = Slow()
    partial_output._RetryingFile(slow).write(b"0123456789")
    assert slow.taken == b"0123456789"


def test_impossible_output_is_rejected(tmp_path):
    (tmp_path / "is.jsonl").write_text("x")
    with pytest.raises(InputError, match="exists already; use --force"):
        check_output_path(tmp_path / "is.jsonl", False)
    check_output_path(tmp_path / "is.jsonl", True)
    with pytest.raises(InputError, match="is the input; give"):
        check_output_path(tmp_path / "is.jsonl", True, [tmp_path / "." / "is.jsonl"])
    with pytest.raises(InputError, match="is not a plain file"):
        check_output_path(tmp_path, True)
    with pytest.raises(InputError, match="its folder does not exist"):
        check_output_path(tmp_path / "no" / "out", False)
    (tmp_path / "link").symlink_to(tmp_path / "is.jsonl")
    with pytest.raises(InputError, match="is the input; give"):
        check_output_path(tmp_path / "link", True, [tmp_path / "is.jsonl"])


@pytest.mark.parametrize("written", [part_of, state_of])
def test_partial_files_are_rejected_as_input(out, written):
    with pytest.raises(InputError, match="is the input; give"):
        check_output_path(out, False, [written(out)])


def test_nothing_remains_if_nothing_was_answered(tmp_path):
    with pytest.raises(InputError), open_output(tmp_path / "out.jsonl", SETTINGS):
        raise InputError("a bad first line")
    assert not list(tmp_path.iterdir())
