"""Whether bf16 products are fast here."""

import pytest
import torch

from niwaki.models.cpu_features import has_bf16, processor_has_bf16


@pytest.fixture
def machine(monkeypatch):
    def build(avx512: bool = False, amx: bool = False, gpu: bool | None = None) -> None:
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512)
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: amx)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu is not None)
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bool(gpu))

    return build


@pytest.mark.parametrize("avx512", [False, True])
@pytest.mark.parametrize("amx", [False, True])
def test_either_instruction_set_is_enough(machine, avx512, amx):
    machine(avx512, amx)
    assert processor_has_bf16() == has_bf16() == (avx512 or amx)


@pytest.mark.parametrize("gpu", [False, True])
def test_the_graphics_card_decides_where_there_is_one(machine, gpu):
    machine(avx512=not gpu, gpu=gpu)
    assert has_bf16() == gpu and processor_has_bf16() == (not gpu)
