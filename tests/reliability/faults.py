"""A disk that fails at any one call of a save: strace makes the n-th call of a kind fail in a child that is saving.

So the failing layer is the system's own: the weights, which no Python call writes, meet it as the JSON files do.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from reliability.saves import Save

CALLS = (
    "openat",
    "write",
    "writev",
    "pwrite64",
    "ftruncate",
    "fsync",
    "rename",
    "mkdir",
    "chmod",
    "fchmod",
    "unlinkat",
    "unlink",
    "rmdir",
)
ERRORS = ("ENOSPC", "EIO", "EACCES")
SAVED, FAILED, BROKEN = 0, 1, 2
LINES = {  # what a user reads
    "training state": r"/(?:work: |checkpoint-\d+: could not be saved \(.*\); what was there before is intact$)",
    "stage": r"/teacher-0: could not be saved \(.*\); what was there before is intact$",
    "measurement or report": r"/report.json: ",
    "ledger": r"/ledger.jsonl: ",
}


def can_inject() -> bool:
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(["strace", "-e", "inject=mkdir:error=EIO", "mkdir", "x"], capture_output=True, check=False)
    return b"Input/output error" in done.stderr


def calls_of(save: Callable[[], None], folder: Path) -> dict[str, list[int]]:
    """Of each kind of call that a save makes, which ones touch the folder: the first, the third …"""
    code, _ = _traced(save, ["-y", "-e", f"trace={','.join(CALLS)}"], folder / "strace")
    assert code == SAVED
    lines = [line for line in (folder / "strace").read_text().splitlines() if "strace" not in line]
    calls = {call: [line for line in lines if line.startswith(f"{call}(")] for call in CALLS}
    return {
        call: [number for number, line in enumerate(found, start=1) if str(folder) in line]
        for call, found in calls.items()
    }


def injected(save: Callable[[], None], error: str, call: str, number: int, folder: Path) -> tuple[int, str]:
    """The child's end (SAVED, FAILED or BROKEN) and the line it printed."""
    return _traced(save, ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}"], folder / "strace")


def every_fault(calls: dict[str, list[int]]) -> list[tuple[str, str, int]]:
    return [(error, call, number) for error in ERRORS for call, numbers in calls.items() for number in numbers]


def _traced(save: Callable[[], None], options: list[str], log: Path) -> tuple[int, str]:
    """A fork of this process waits until strace has hold of it, saves, and ends."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _child(save, theirs)
    os.close(theirs)
    os.waitpid(child, os.WUNTRACED)
    tracer = subprocess.Popen(["strace", "-qq", *options, "-o", str(log), "-p", str(child)], stderr=subprocess.DEVNULL)
    while "TracerPid:\t0" in Path(f"/proc/{child}/status").read_text():
        time.sleep(0.001)
    os.kill(child, signal.SIGCONT)
    with os.fdopen(ours, "rb") as output:
        text = output.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    tracer.wait()
    return code, text


def _child(save: Callable[[], None], pipe: int) -> None:
    from niwaki.core.errors import NiwakiError

    os.kill(os.getpid(), signal.SIGSTOP)
    text, code = "", SAVED
    try:
        save()
    except NiwakiError as error:
        text, code = str(error), FAILED
    except OSError as error:  # as the command line says it
        text, code = f"{error.filename}: {error.strerror}", FAILED
    except BaseException as error:  # noqa: BLE001 - the child must end here
        text, code = repr(error), BROKEN
    if text:
        os.write(pipe, text.encode())
    os._exit(code)


def try_every(save: Save, folder: Path, some: int = 1) -> tuple[dict[str, int], list[str]]:
    """Every `some`-th fault of a save: how the tries ended, and what went wrong."""
    save.begin()
    save.save()  # what is imported late is imported by now
    save.begin()
    ends, wrong = {"failed": 0, "saved": 0}, []
    for fault in every_fault(calls_of(save.save, folder))[::some]:
        save.begin()
        code, text = injected(save.save, *fault, folder)
        ends["failed" if code else "saved"] += 1
        if code == BROKEN or (code == FAILED and not re.search(LINES[save.name], text)) or "\n" in text:
            wrong.append(f"{fault}: ended with {code}, {text!r}")
        problem = save.check(code == SAVED)
        if problem:
            wrong.append(f"{fault}: {problem}")
    return ends, wrong
