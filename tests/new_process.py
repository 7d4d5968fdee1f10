"""Python code in a process of its own that has nothing of the test's, forked from one that has everything imported.

A new interpreter needs three seconds to import torch and transformers. Tests of what is imported start one nevertheless.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from run import small


def run(code: str, *arguments: object, timeout: float = 300) -> None:
    """Runs the code with these `sys.argv[1:]`; fails with its stderr unless it ends by itself with exit code 0."""
    with TemporaryDirectory() as folder:
        errors = Path(folder) / "stderr"
        words = [str(argument) for argument in arguments]
        process = small.forkserver().Process(target=_child, args=(code, words, str(errors)))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
        assert process.exitcode == 0, (process.exitcode, errors.read_text()[-3000:])


def _child(code: str, arguments: list[str], errors: str) -> None:
    import torch

    torch.set_num_threads(1)
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<code of a test>", "exec"), {"__name__": "__main__"})
