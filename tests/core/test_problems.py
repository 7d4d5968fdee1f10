"""Faults of independent checks come together."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.problems import Problems


def test_checks_after_a_failed_one_still_run():
    problems = Problems()
    for faults in (["a", "b"], "c", ["a"]):
        with problems.collecting():
            raise InputError(faults)
    with problems.collecting("stage 'x': "):
        raise InputError("d")
    with pytest.raises(InputError) as caught:
        problems.raise_any()
    assert caught.value.faults == ["a", "b", "c", "stage 'x': d"]


def test_no_fault_raises_nothing_and_other_errors_pass():
    problems = Problems()
    with problems.collecting():
        pass
    problems.raise_any()
    with pytest.raises(ZeroDivisionError), problems.collecting():
        _ = 1 / 0
