"""Gradients of large embedding tables in a buffer that is reused, updated only in the rows that a batch reads.

A batch reads some hundred of 30,000 rows. torch allocates and zeroes a gradient of the whole table at every step, which takes a fifth
of a small student's step; here only the rows of the previous step are zeroed. The values are the same.
"""

import torch
from torch import Tensor, nn

LARGE = 1 << 20  # values; smaller tables are zeroed in no time


class RowGradients:
    """Gradients of all large trainable tables of a network."""

    def __init__(self, network: nn.Module) -> None:
        found = [module for module in network.modules() if isinstance(module, nn.Embedding)]
        self.tables = [one for one in found if _trained(one) >= LARGE]
        self._buffers: dict[
            int, tuple[Tensor, Tensor]
        ] = {}  # by table: its gradient, and the rows that the last step wrote

    def __enter__(self) -> "RowGradients":
        for table in self.tables:
            table.sparse = True
        return self

    def __exit__(self, *_: object) -> None:
        for table in self.tables:
            table.sparse = False
        self._buffers.clear()

    def gather(self) -> None:
        """After `backward`: gradients as dense tensors, as optimizers expect them."""
        for number, table in enumerate(self.tables):
            if table.weight.grad is not None and table.weight.grad.is_sparse:
                table.weight.grad = self._whole(number, table.weight.grad)

    def _whole(self, number: int, gradient: Tensor) -> Tensor:
        if number in self._buffers:
            whole, rows = self._buffers[number]
            whole[rows] = 0.0
        else:
            whole = torch.zeros(gradient.shape, dtype=gradient.dtype, device=gradient.device)
        rows = gradient._indices()[0]
        self._buffers[number] = whole, rows
        return whole.index_add_(0, rows, gradient._values())


def _trained(table: nn.Embedding) -> int:
    """Numbers of its weights; 0 where they are frozen, or worked out from others, as while training for fewer bits."""
    own = dict(table.named_parameters(recurse=False)).get("weight")
    return own.numel() if own is not None and own.requires_grad else 0
