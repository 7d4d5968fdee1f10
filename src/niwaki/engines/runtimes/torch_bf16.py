"""PyTorch in bf16, without padding: for processors that multiply bf16; its logits differ slightly, so it is only used by name."""

from pathlib import Path
from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.engines.runtimes.torch import Torch


class TorchBf16(Torch):
    """Weights and activations in 16 bits. On MiniLM, logits differ by at most 0.03 (docs/diary.md)."""

    preference: ClassVar[int | None] = None
    is_export_target: ClassVar[bool] = False

    def __init__(self, folder: Path, threads: int) -> None:
        import torch

        super().__init__(folder, threads)
        if not self.anatomy.layers or self.anatomy.is_seq2seq:
            raise InputError(f"{folder}: has no attention layers; torch_bf16 is for encoders, use engine 'onnx'")
        packed = [name for name, value in self.network.state_dict().items() if not value.is_floating_point()]
        if packed:
            raise InputError(
                f"{folder}: '{packed[0]}' is packed, and torch_bf16 is for float weights; use engine 'native', 'onnx' or 'openvino'"
            )
        self.network.to(torch.bfloat16)

    @classmethod
    def missing_requirement(cls) -> str | None:
        from niwaki.models.cpu_features import processor_has_bf16

        if (missing := super().missing_requirement()) or processor_has_bf16():
            return missing
        return "torch_bf16 engine: this processor has neither AVX512-BF16 nor AMX, so bf16 would be emulated; use engine 'torch'"
