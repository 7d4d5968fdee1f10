"""Turns a pickle of weights into safetensors: the only module of niwaki that opens one, and never by itself.

    python -m niwaki.convert_pickle --i-trust-this-file pytorch_model.bin model.safetensors

A pickle is a program. torch's reader for weights alone (`weights_only=True`) rejects most of what such a program can
do, and has had bugs that let some through. So it runs in a child process without network, new processes or files, with
limits on memory, time and the size of what it writes, that gives back tensors through one new file; and only after the
user says that the file is trusted. In the child nothing but the tensors is saved: no metadata, no code, no names of types.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from niwaki.core.errors import InputError, NiwakiError, UsageError
from niwaki.core.system import limit_process
from niwaki.core.tensor_file import read_header

SECONDS = 600
MEMORY_FOLD, MEMORY_BASE = 4, 6 << 30  # address space: that many times the file, and what torch maps for itself
NEW_USER, NEW_NET = 0x10000000, 0x40000000  # as Linux numbers them; `os` has the names from Python 3.12
FLAG = "--i-trust-this-file"
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "ctypes.dlopen",
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.kill",
    "shutil.",
)


def convert(source: Path, target: Path) -> int:
    """Writes the tensors of `source` to the new file `target`; gives their number. The parent never opens the pickle."""
    if not source.is_file():
        raise InputError(f"{source}: is not there")
    if target.exists():
        raise InputError(f"{target}: is there already; remove it first, or choose another name")
    if not target.parent.is_dir():
        raise InputError(f"{target}: its folder is not there; make it first")
    private = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent.resolve()))  # no link can lie in it
    part = private / target.name
    command = [sys.executable, "-I", "-c", "from niwaki.convert_pickle import child; child()", str(source), str(part)]
    environment = {key: value for key, value in os.environ.items() if key in ("PATH", "LD_LIBRARY_PATH", "TMPDIR")}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            env={**environment, "OMP_NUM_THREADS": "1"},
            cwd=source.resolve().parent,
        )
        if done.returncode:
            message = (done.stderr.strip().splitlines() or [f"it ended with code {done.returncode}"])[-1]
            raise InputError(f"{source}: was not converted ({message[:300]})")
        count = len(read_header(part).tensors)
        part.rename(target)
    except subprocess.TimeoutExpired:
        raise InputError(f"{source}: was not converted (it took more than {SECONDS} s)") from None
    finally:
        shutil.rmtree(private, ignore_errors=True)
    return count


def child() -> None:
    """In the child: read under limits, keep tensors only, write."""
    import torch
    from safetensors.torch import save_file

    source, part = Path(sys.argv[1]), Path(sys.argv[2])
    confine(source.stat().st_size)
    state = torch.load(source, map_location="cpu", weights_only=True, mmap=False)
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict):
        sys.exit("it holds no table of tensors")
    tensors = {
        name: value for name, value in state.items() if isinstance(name, str) and isinstance(value, torch.Tensor)
    }
    if not tensors:
        sys.exit("it holds no tensors")
    save_file({name: value.detach().clone().contiguous() for name, value in tensors.items()}, part)


def confine(size: int) -> None:
    """Limits of this process, none of which it can lift again; on Linux also a net of its own, with nobody in it."""
    limit_process(
        {
            "RLIMIT_AS": MEMORY_FOLD * size + MEMORY_BASE,
            "RLIMIT_FSIZE": 2 * size + (1 << 20),
            "RLIMIT_CPU": SECONDS,
            "RLIMIT_CORE": 0,
            "RLIMIT_NPROC": 0,
        }
    )
    sys.addaudithook(_deny)
    if hasattr(os, "unshare"):
        with contextlib.suppress(OSError):  # needs rights that not every user has; the hook above stays
            os.unshare(NEW_USER | NEW_NET)


def _deny(event: str, given: tuple) -> None:
    """Audit hook: rejects what Python is about to do. safetensors writes the tensors in Rust, which the hook does not see."""
    opens_for_writing = event == "open" and isinstance(given[2], int) and given[2] & WRITING
    if opens_for_writing or event.startswith(FORBIDDEN):
        raise PermissionError(f"it tried what no weights need: {event}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m niwaki.convert_pickle", description="a pickle of weights to safetensors"
    )
    parser.add_argument(FLAG, action="store_true", dest="trusted", help="needed: a pickle is a program")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    try:
        if not given.trusted:
            raise UsageError(f"{given.source}: a pickle is a program and may do anything; if you trust it, add {FLAG}")
        count = convert(given.source, given.target)
    except NiwakiError as error:
        sys.stderr.write(f"niwaki: {error}\n")
        return error.exit_code
    sys.stdout.write(f"{given.target}: {count} tensors\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
