"""One process at a time in a folder."""

import os
import signal
import subprocess
import sys

import pytest

from niwaki.core.errors import Refused
from niwaki.core.lock import locked

HOLDER = """
import sys, time
from pathlib import Path
from niwaki.core.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_process_is_refused_by_the_first_ones_number_until_it_dies(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "run")], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Refused, match=f"is in use by process {holder.pid}; wait for it"), locked(tmp_path / "run"):
            pass
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
    with locked(tmp_path / "run"):
        assert (tmp_path / "run" / ".lock").read_text() == str(os.getpid())
    with locked(tmp_path / "run"):  # and given back when left
        pass
