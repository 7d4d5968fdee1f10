"""The contract of the training kernels over random shapes. `make sanitize` runs this with all memory accesses checked."""

import pytest
import torch

from models.fused.comparing import compiled
from models.fused.contract import FILLS, judge, poisoned_memory
from niwaki.models.fused.library import scratch

pytestmark = compiled
SHAPES, SLOW_SHAPES = range(48), range(1000, 2500)


def faults(seeds: range) -> list[str]:
    return [fault for seed in seeds for fault in judge(seed)]


def test_random_shapes() -> None:
    assert faults(SHAPES) == []


@pytest.mark.slow
def test_more_random_shapes() -> None:
    assert faults(SLOW_SHAPES) == []


def test_the_contract_notices_what_is_written_outside_of_scratch_memory() -> None:
    with poisoned_memory(FILLS["NaN"], 1) as memory:
        given = scratch("test", 10)
        assert given.isnan().all() and torch.empty(3).isnan().all() and not memory.overrun
        torch.as_strided(given, (1,), (1,), given.storage_offset() + 10)[0] = 1.0
        assert memory.overrun
