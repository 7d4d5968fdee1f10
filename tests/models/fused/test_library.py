import pytest
import torch
from torch import nn

from models.fused.comparing import compiled
from niwaki.models.fused import library


@compiled
def test_the_same_seed_draws_the_same_dropout() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(3)
        one = library.draw_dropout(0.1)
        drawn.append((one.seed, one.salt, one.limit))
    assert drawn[0] == drawn[1] and drawn[0][2] == round(0.1 * 2**32)


def test_no_library_is_used_on_processors_with_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NIWAKI_TRAINING_KERNELS", raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True)
    assert library.library.__wrapped__() is None


def test_without_a_library_nothing_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "library", lambda: None)
    with torch.autocast("cpu", torch.bfloat16):
        assert not library.usable(torch.zeros(1, 2, dtype=torch.bfloat16))


def test_a_module_with_a_hook_is_not_plain() -> None:
    module = nn.Linear(2, 2)
    assert library.is_plain(module, nn.Linear) and not library.is_plain(module, nn.LayerNorm)
    module.register_forward_hook(lambda *_: None)
    assert not library.is_plain(module, nn.Linear)


def test_scratch_memory_grows_and_is_reused() -> None:
    small = library.scratch("test", 10)
    large = library.scratch("test", 20)
    assert large.numel() >= 20 and library.scratch("test", 5).data_ptr() == large.data_ptr()
    assert small.numel() >= 10
