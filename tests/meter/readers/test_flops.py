"""FLOPs to joules."""

import pytest

from niwaki.core.errors import UsageError
from niwaki.meter.readers.flops import energy_of, reading_of
from niwaki.meter.readers.vcpu import watts_per_vcpu


def test_joules_of_flops_match_values_computed_by_hand() -> None:
    energy = energy_of(96e9)  # one CPU-second of matrix products of 512
    assert energy.joules == pytest.approx(watts_per_vcpu()["max"])
    assert energy.high / energy.low == pytest.approx(100) and energy.tier == "estimated"
    assert energy_of(96e9, "tanh").joules > 50 * energy.joules


def test_unknown_kinds_and_negative_flops_are_rejected() -> None:
    assert reading_of(1e12).joules == pytest.approx(energy_of(1e12).joules)
    with pytest.raises(UsageError, match="did you mean 'gemm-512'"):
        energy_of(1e9, "gem-512")
    with pytest.raises(UsageError, match="below 0"):
        energy_of(-1)
