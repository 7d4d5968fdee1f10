"""Gradients of large tables by the rows that a batch read, put into one array that stays.

Of a table of 30,000 pieces a batch reads some hundred. torch gives a gradient of the whole table, new and filled with 0 at
every step, which takes a fifth of a small student's step; here only what the step before wrote is set to 0 again. The numbers are the same.
"""

import torch
from torch import Tensor, nn

LARGE = 1 << 20  # numbers; below, filling with 0 takes no time


class RowGradients:
    """Of all large tables of a network that are trained."""

    def __init__(self, network: nn.Module) -> None:
        found = [module for module in network.modules() if isinstance(module, nn.Embedding)]
        self.tables = [one for one in found if _trained(one) >= LARGE]
        self._buffers: dict[int, tuple[Tensor, Tensor]] = {}  # by table: its gradient, and the rows written last

    def __enter__(self) -> "RowGradients":
        for table in self.tables:
            table.sparse = True
        return self

    def __exit__(self, *_: object) -> None:
        for table in self.tables:
            table.sparse = False
        self._buffers.clear()

    def gather(self) -> None:
        """After `backward`: gradients as any optimizer reads them."""
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
