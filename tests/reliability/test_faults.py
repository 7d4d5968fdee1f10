"""A disk that fails during a save: the previous files stay, one line reports the error, and the next save works."""

import pytest

from reliability import faults
from reliability.saves import all_saves

EVERY = {"training state": 18, "stage": 54, "measurement or report": 2, "ledger": 1}  # `benchmarks/faults.py` tries all
pytestmark = pytest.mark.skipif(not faults.can_inject(), reason="needs strace, and leave to trace")


@pytest.mark.parametrize("name", EVERY)
def test_failed_save_leaves_the_previous_files(tmp_path, name):
    save = next(save for save in all_saves(tmp_path) if save.name == name)
    ends, wrong = faults.try_every(save, tmp_path, EVERY[name])
    assert wrong == []
    assert ends["failed"] >= 4
