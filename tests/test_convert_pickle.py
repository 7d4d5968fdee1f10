"""The only reader of pickles: needs an explicit flag, reads tensors only, in a process that can do nothing else."""

import pickle
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from niwaki.convert_pickle import FLAG, _deny, convert, main
from niwaki.core.errors import InputError


def test_weights_are_converted(tmp_path, capsys):
    state = {"a.weight": torch.arange(6.0).reshape(2, 3).T, "b": torch.ones(2, dtype=torch.int8)}
    state["tied"] = state["b"]
    torch.save({"state_dict": state, "epoch": 3}, tmp_path / "x.bin")
    assert main([FLAG, str(tmp_path / "x.bin"), str(tmp_path / "x.safetensors")]) == 0
    assert "3 tensors" in capsys.readouterr().out
    found = load_file(tmp_path / "x.safetensors")
    assert found.keys() == state.keys() and all(torch.equal(found[name], state[name]) for name in state)


def test_nothing_is_opened_without_the_flag(tmp_path, capsys):
    assert main([str(tmp_path / "x.bin"), str(tmp_path / "y")]) == 2
    assert FLAG in capsys.readouterr().err


class Evil:
    def __init__(self, place):
        self.place = place

    def __reduce__(self):
        return (open, (self.place, "w"))


@pytest.mark.parametrize("make", ["code", "junk", "nothing"])
def test_other_content_is_rejected_and_never_run(tmp_path, make):
    source, mark = tmp_path / "x.bin", tmp_path / "mark"
    if make == "code":
        source.write_bytes(pickle.dumps({"a": Evil(str(mark))}))
    elif make == "junk":
        source.write_bytes(b"\x80\x04junk")
    else:
        torch.save({"epoch": 3}, source)
    with pytest.raises(InputError, match="was not converted") as caught:
        convert(source, tmp_path / "y.safetensors")
    assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.bin"]


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "x.bin")
    (tmp_path / "y").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        convert(tmp_path / "x.bin", tmp_path / "y")
    with pytest.raises(InputError, match="is not there"):
        convert(tmp_path / "none", tmp_path / "z")


def test_a_link_with_the_name_of_a_temporary_file_is_not_followed(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "x.bin")
    (tmp_path / "precious").write_text("mine")
    (tmp_path / ".y.part").symlink_to(tmp_path / "precious")
    assert convert(tmp_path / "x.bin", tmp_path / "y") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".y.part", "precious", "x.bin", "y"]
    assert (tmp_path / "precious").read_text() == "mine"


TRIES = [
    "socket.create_connection(('127.0.0.1', 9))",
    "os.system('true')",
    "subprocess.run(['true'])",
    "open(place, 'w')",
    "open(place, 'a')",
    "os.open(place, os.O_RDWR)",
    "os.remove(place)",
    "os.rename(place, place + '2')",
    "pathlib.Path(place).unlink()",
    "os.symlink('/', place + '3')",
    "os.kill(os.getppid(), 0)",
    "shutil.rmtree(place)",
]


def test_the_child_has_no_network_and_creates_no_file(tmp_path):
    """All in one process: each must be rejected, and reading must not be."""
    (tmp_path / "there").write_text("mine")
    check = f"""
import os, pathlib, shutil, socket, subprocess
from niwaki.convert_pickle import confine
confine(1000)
place = {str(tmp_path / "there")!r}
assert open(place).read() == "mine"
for code in {TRIES!r}:
    try:
        eval(code)
    except PermissionError as error:
        assert "what no weights need" in str(error), code
    else:
        raise SystemExit(code)
"""
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    with pytest.raises(PermissionError):
        _deny("socket.connect", (socket.AF_INET,))
