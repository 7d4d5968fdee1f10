"""PyTorch, in bf16, without padding: where the processor multiplies bf16; answers a little otherwise, so it is only taken by name."""

from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.engines.runtimes.torch import Torch


class TorchBf16(Torch):
    """Weights and activations in 16 bits. On MiniLM logits are 0.03 apart at the most (docs/diary.md)."""

    def __init__(self, folder: Path, threads: int) -> None:
        import torch

        super().__init__(folder, threads)
        if not self.lean.anatomy.layers or self.lean.anatomy.is_seq2seq:
            raise InputError(f"{folder}: has no attention layers; torch_bf16 is for encoders, take engine 'onnx'")
        network = self.lean.network
        packed = [name for name, value in network.state_dict().items() if not value.is_floating_point()]
        if packed:
            raise InputError(
                f"{folder}: '{packed[0]}' is packed; bf16 is for floats, and the native, onnx and openvino engines multiply what is packed"
            )
        network.to(torch.bfloat16)

    @classmethod
    def missing_requirement(cls) -> str | None:
        from niwaki.models.cpu_features import processor_has_bf16

        if processor_has_bf16():
            return None
        return "torch_bf16 engine: this processor has neither AVX512-BF16 nor AMX, so that bf16 would be emulated; take engine 'torch'"
