"""A part is good as far as its state says: torn ends are cut, other work is refused, a full disk costs nothing that was kept."""

import json

import pytest

from niwaki.core.errors import InputError, NiwakiError
from niwaki.engines import partial_output
from niwaki.engines.partial_folder import ANSWERS, STATE, folders_of
from niwaki.engines.partial_output import OutputState, check_output_path, open_output

MADE_BY = {"model": "a", "engine": "onnx"}


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
    with open_output(out, MADE_BY) as part:
        part.add(b"1\n2\n", 2, 0, "hash")
        part.keep()
        part.add(b"3\n4", 2, 0, "later")
    return out


def test_it_goes_on_behind_what_was_kept(out):
    assert part_of(out).read_bytes() == b"1\n2\n3\n4"
    with open_output(out, MADE_BY) as part:
        assert part.state == OutputState(made_by=MADE_BY, inputs=2, bytes=4, read="hash")
        part.add(b"5\n", 1, 1, "end")
        part.finish()
    assert out.read_bytes() == b"1\n2\n5\n" and sorted(out.parent.iterdir()) == [out]


def test_with_force_it_begins_anew(out):
    with open_output(out, {"model": "b"}, force=True) as part:
        assert part.state.inputs == 0
        part.add(b"9\n", 1, 0, "x")
        part.finish()
    with open_output(out, MADE_BY, force=True) as part:
        part.finish()
    assert out.read_bytes() == b""


def interrupted(out, made_by, force):
    """What is said where a stop comes after one input more."""
    with pytest.raises(KeyboardInterrupt) as stop, open_output(out, made_by, force) as part:
        part.add(b"7\n", 1, 0, "x")
        raise KeyboardInterrupt
    return str(stop.value)


def test_what_force_began_goes_on_without_it(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    assert interrupted(out, MADE_BY, force=True).endswith("the same command without --force goes on from there")
    check_output_path(out, False)
    with pytest.raises(InputError, match="another model"), open_output(out, {**MADE_BY, "model": "b"}):
        pass
    assert interrupted(out, MADE_BY, force=False).endswith("without --force goes on from there")
    assert out.read_bytes() == b"old"
    with open_output(out, MADE_BY) as part:
        part.finish()
    assert out.read_bytes() == b"7\n7\n"
    with pytest.raises(InputError, match="is there already"), open_output(out, MADE_BY):
        pass


def test_leave_that_was_given_to_other_work_counts_for_nothing(tmp_path):
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"old")
    with open_output(out, MADE_BY, force=True):
        pass
    with pytest.raises(InputError, match="is there already"), open_output(out, {**MADE_BY, "model": "b"}):
        pass
    assert interrupted(tmp_path / "new.jsonl", MADE_BY, force=False).endswith("the same command goes on from there")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"made_by": {**MADE_BY, "model": "b"}}, "was begun with another model; --force"),
        ({"made_by": {"engine": "torch"}}, "was begun with another model and another engine"),
        ({"bytes": 99}, "is shorter than it was"),
        ({"bad": 1}, "give --skip-bad as before"),
        ({"bytes": -1}, "bytes"),
        ({"else": 1}, "unknown key"),
    ],
)
def test_a_state_of_other_work_is_refused(out, change, line):
    state_of(out).write_text(json.dumps({**json.loads(state_of(out).read_text()), **change}))
    before = part_of(out).read_bytes()
    with pytest.raises(InputError, match=line), open_output(out, MADE_BY, bad=False):
        pass
    assert part_of(out).read_bytes() == before


@pytest.mark.parametrize("text", ["[]", "{", '{"inputs": NaN}', "1"])
def test_a_damaged_state_is_refused(out, text):
    state_of(out).write_text(text)
    with pytest.raises(InputError), open_output(out, MADE_BY):
        pass


@pytest.mark.parametrize("gone", [part_of, state_of])
def test_half_of_it_counts_for_nothing(out, gone):
    gone(out).unlink()
    with open_output(out, MADE_BY) as part:
        assert part.state.inputs == 0 and part_of(out).stat().st_size == 0


def test_only_one_at_a_time(out):
    with (
        open_output(out, MADE_BY),
        pytest.raises(InputError, match="is being written by another process"),
        open_output(out, MADE_BY),
    ):
        pass


def test_a_full_disk_is_told_and_what_was_kept_stays(out, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, open_output(out, MADE_BY) as part:
        patch.setattr(partial_output._Whole, "write", full)
        with pytest.raises(NiwakiError, match=r"answers\.jsonl: could not be written \(No space left.*goes on"):
            part.add(b"3\n", 1, 0, "x")
    with open_output(out, MADE_BY) as part:
        assert part.state.inputs == 2


def test_a_disk_that_takes_a_part_first(out, monkeypatch):
    class Slow:
        def __init__(self):
            self.taken = b""

        def fileno(self):
            return 0

        def write(self, data):
            self.taken += bytes(data[:3])
            return min(3, len(data))

    slow = Slow()
    partial_output._Whole(slow).write(b"0123456789")
    assert slow.taken == b"0123456789"


def test_where_no_file_can_come_to_be(tmp_path):
    (tmp_path / "is.jsonl").write_text("x")
    with pytest.raises(InputError, match="is there already; --force"):
        check_output_path(tmp_path / "is.jsonl", False)
    check_output_path(tmp_path / "is.jsonl", True)
    with pytest.raises(InputError, match="is what is read"):
        check_output_path(tmp_path / "is.jsonl", True, [tmp_path / "." / "is.jsonl"])
    with pytest.raises(InputError, match="is not a plain file"):
        check_output_path(tmp_path, True)
    with pytest.raises(InputError, match="its folder is not there"):
        check_output_path(tmp_path / "no" / "out", False)
    (tmp_path / "link").symlink_to(tmp_path / "is.jsonl")
    with pytest.raises(InputError, match="is what is read"):
        check_output_path(tmp_path / "link", True, [tmp_path / "is.jsonl"])


@pytest.mark.parametrize("written", [part_of, state_of])
def test_the_partial_files_are_not_read_as_input(out, written):
    with pytest.raises(InputError, match="is what is read"):
        check_output_path(out, False, [written(out)])


def test_nothing_is_left_where_nothing_was_answered(tmp_path):
    with pytest.raises(InputError), open_output(tmp_path / "out.jsonl", MADE_BY):
        raise InputError("a bad first line")
    assert not list(tmp_path.iterdir())
