"""bf16 in torch: close to fp32, chosen only by name, and only with CPU support."""

import numpy as np
import pytest
import torch

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.engines import engine_choice
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes.torch_bf16 import TorchBf16
from niwaki.models.edits.int8 import Int8
from selection import covering

TEXTS = [text for text, _ in tiny.sentences(40, seed=6)]


@pytest.fixture
def able(monkeypatch):
    """Emulated where it must be: slow, and the same numbers."""
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)


@pytest.mark.parametrize(("family", "head"), covering(tiny.FAMILIES, ["SequenceClassification", "TokenClassification"]))
def test_logits_are_close_to_float32(able, tmp_path, family, head):
    folder = tiny.deployed(tiny.model(family, head=head), tmp_path / "made")
    found, wanted = (Predictor(folder, engine) for engine in ("torch_bf16", "torch"))
    inputs = TEXTS if head == "SequenceClassification" else [text.split() for text in TEXTS]
    found, wanted = (predictor.logits(predictor.tokenize(inputs)) for predictor in (found, wanted))
    apart = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert found.dtype == np.float32 and 1e-5 < apart < 0.05


@pytest.mark.parametrize("family", tiny.READERS)
def test_networks_without_attention_are_rejected(able, tmp_path, family):
    folder = tiny.deployed(tiny.model(family), tmp_path / "made")
    with pytest.raises(InputError, match="has no attention layers"):
        Predictor(folder, "torch_bf16")


def test_engine_is_never_chosen_automatically(able, tmp_path):
    folder = tiny.deployed(tiny.model("bert"), tmp_path / "made")
    assert "torch_bf16" not in engine_choice.usable_engines(folder)
    assert api.load(folder, "torch_bf16").predict(TEXTS[0])[0].label in tiny.LABELS


def test_missing_cpu_features_and_packed_weights_are_rejected(tmp_path, monkeypatch):
    model = tiny.model("bert")
    model.apply_edit(Int8())
    folder = tiny.deployed(model, tmp_path / "made")
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    with pytest.raises(InputError, match="is packed, and torch_bf16 is for float weights"):
        api.load(folder, "torch_bf16")
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    assert "neither AVX512-BF16 nor AMX" in TorchBf16.missing_requirement()
    with pytest.raises(InputError, match="use engine 'torch'"):
        api.load(folder, "torch_bf16")
