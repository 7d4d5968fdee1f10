"""What torch hands to the passes of an autograd function."""

from typing import Protocol

from torch import Tensor

from niwaki.models.fused.library import Dropout


class Context(Protocol):
    saved_tensors: tuple[Tensor, ...]
    needs_input_grad: tuple[bool, ...]
    settings: tuple[int, float, Dropout]  # head size (of attention), scale or epsilon, dropout

    def save_for_backward(self, *tensors: Tensor | None) -> None: ...
