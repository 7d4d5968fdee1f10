"""The number format of a training and what it says about its last bits."""

import pytest

from niwaki.train import precision


@pytest.mark.parametrize("has_bf16", [True, False])
def test_auto_is_bf16_only_where_the_processor_has_it(monkeypatch, has_bf16):
    monkeypatch.setattr(precision, "has_bf16", lambda: has_bf16)
    assert precision.resolve_precision("auto") == ("bf16" if has_bf16 else "fp32")
    assert precision.resolve_precision("fp32") == "fp32"


def test_compiled_kernels_are_another_arithmetic_than_torch(monkeypatch):
    monkeypatch.setattr(precision, "library", lambda: object())
    compiled = precision.arithmetic("bf16"), precision.arithmetic("fp32")
    monkeypatch.setattr(precision, "library", lambda: None)
    assert compiled[0] != precision.arithmetic("bf16") == "bf16"
    assert compiled[1] == precision.arithmetic("fp32") == "fp32"
