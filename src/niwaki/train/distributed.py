"""Several processes that train one model together, as torchrun starts them: what they must agree on. One alone does nothing here.

Each reads other rows and all take the same step, with the mean of their gradients. The wrapper that torch has for this is
not used: it knows nothing of a method's own parameters and fails where a loss leaves some of the network out.
"""

from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


def is_distributed() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Puts the mean over all processes into every gradient; one message, so that few steps wait for each other."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not is_distributed() or not gradients:
        return
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for gradient, mean in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
        gradient.copy_(mean.view_as(gradient))


def any_process(said: bool, device: torch.device) -> bool:
    """Whether one of the processes says so; all get the same answer."""
    if not is_distributed():
        return said
    flag = torch.tensor(int(said), device=device)
    dist.all_reduce(flag, op=dist.ReduceOp.MAX)
    return bool(flag)


def from_main_process(value: float, device: torch.device) -> float:
    """The first process's value."""
    if not is_distributed():
        return value
    shared = torch.tensor(value, dtype=torch.float64, device=device)
    dist.broadcast(shared, src=0)
    return float(shared)


def broadcast(tensors: Iterable[Tensor]) -> None:
    """Gives every process the first one's numbers."""
    if is_distributed():
        for tensor in tensors:
            dist.broadcast(tensor.detach(), src=0)
