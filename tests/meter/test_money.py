"""Prices of vCPU hours."""

import pytest

from niwaki.core.errors import InputError
from niwaki.meter.money import Price, assumed_range, price


def test_prices_are_read_from_tables_and_numbers() -> None:
    assert price("aws-m7i").usd(seconds=3600, vcpus=4) == pytest.approx(0.2016)
    assert price(0.1).usd(seconds=1800, vcpus=2) == pytest.approx(0.1)
    assert Price(0.05, usd_per_gpu_hour=2.0, gpus=4).usd(seconds=3600, vcpus=8) == pytest.approx(8.4)
    assert assumed_range() == (0.0408, 0.0504)
    with pytest.raises(InputError, match="did you mean 'aws-m7i'"):
        price("aws-m7j")
    with pytest.raises(InputError, match="not a price"):
        price(-1)
