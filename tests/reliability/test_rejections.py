"""Rejecting a file of any size ends the process as promised: one line, exit code 3, no signal, nothing left running."""

import subprocess
import sys
import threading

import pytest

from niwaki.core.errors import InputError
from niwaki.data import delimited, utf8
from niwaki.data.dataset_files import read_splits
from reliability.rejections import NAMES, READ, write

SIZE = 3 << 20  # larger than what an operating system or a reader holds back


@pytest.mark.parametrize("name", NAMES)
def test_rejection_runs_no_python_in_other_threads(name, tmp_path, monkeypatch):
    """A thread of Arrow's that calls into Python while the process ends aborts it, or hangs."""
    threads = set()

    def watched(function):
        def wrapper(*arguments, **options):
            threads.add(threading.current_thread())
            return function(*arguments, **options)

        return wrapper

    monkeypatch.setattr(utf8.Check, "__call__", watched(utf8.Check.__call__))
    monkeypatch.setattr(delimited.Rows, "judge", watched(delimited.Rows.judge))
    path, *columns = write(name, tmp_path, SIZE)
    with pytest.raises(InputError) as caught:
        read_splits(path, columns or None)
    assert len(str(caught.value).splitlines()) == 1
    assert threads <= {threading.current_thread()}


@pytest.mark.parametrize(
    "name",
    ["cells_early.csv", "cells_early.csv.gz", "encoding_early.csv", "no_json_early.jsonl", "damaged_page.parquet"],
)
def test_a_rejecting_process_ends_with_its_exit_code(name, tmp_path):
    arguments = write(name, tmp_path, 8 * SIZE)
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", READ, *arguments], capture_output=True, text=True, timeout=300)
        assert (done.returncode, len(done.stderr.splitlines())) == (3, 1), done.stderr


def test_every_way_to_reject_has_its_file():
    assert len(NAMES) >= 30 and len(set(NAMES)) == len(NAMES)
