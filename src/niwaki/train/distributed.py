"""What the processes of one training say to each other. In a single process these functions do nothing.

All processes hold the same weights and call these functions in the same order. DistributedDataParallel is not used: its sum of gradients
depends on the number of processes (`train/micro_shards.py` adds them in a fixed order), and it ignores parameters that belong to methods.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cache

import torch
import torch.distributed as dist
from torch import Tensor, nn

from niwaki.core.errors import NiwakiError


class ProcessLost(NiwakiError):
    """Another process of the training does not answer any more."""


@cache
def join() -> dist.Store:
    """Joins the processes that a launcher started, once, and returns the store that they share. Nothing waits forever although the time limit
    is long: the connections of a process that ends break, and `run/heartbeat.py` notices one that hangs."""
    store, own, world = next(dist.rendezvous("env://", timeout=timedelta(minutes=5)))
    backend = "cuda:nccl,cpu:gloo" if torch.cuda.is_available() else "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", own)))
    dist.init_process_group(backend, store=store, rank=own, world_size=world, timeout=timedelta(days=1))
    return store


def processes() -> int:
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def number() -> int:
    """Which process this is. The first one, 0, writes all files."""
    return dist.get_rank() if processes() > 1 else 0


def is_main() -> bool:
    return number() == 0


def any_process(values: Sequence[bool]) -> list[bool]:
    """For each value, whether it is true in any process; all processes get the same result."""
    if processes() == 1:
        return list(values)
    flags = torch.tensor([int(value) for value in values])
    with _others_answer():
        dist.all_reduce(flags, op=dist.ReduceOp.MAX)
    return [bool(flag) for flag in flags.tolist()]


def from_main_process(compute: Callable[[], float]) -> float:
    """What the first process computes; the others wait for it."""
    if processes() == 1:
        return compute()
    shared = torch.tensor(compute() if is_main() else 0.0, dtype=torch.float64)
    with _others_answer():
        dist.broadcast(shared, src=0)
    return float(shared)


def broadcast(tensors: Iterable[Tensor]) -> None:
    """Copies the tensors of the first process to all others."""
    if processes() > 1:
        with _others_answer():
            for tensor in tensors:
                dist.broadcast(tensor.detach(), src=0)


def wait_for_all() -> None:
    if processes() > 1:
        with _others_answer():
            dist.barrier()


def all_to_all(values: Tensor, sent: list[int], received: list[int]) -> Tensor:
    """Sends `sent[p]` numbers to each process p, and returns the numbers from all processes, `received[p]` of each."""
    found = values.new_empty(sum(received))
    with _others_answer():
        dist.all_to_all_single(found, values, received, sent)
    return found


def all_gather(values: Tensor) -> Tensor:
    """The values of all processes, one behind the other; equally many of each."""
    found = values.new_empty(processes() * values.numel())
    with _others_answer():
        dist.all_gather(list(found.view(processes(), -1)), values)
    return found


def require_same(modules: nn.Module, when: str, values: bool = True) -> None:
    """Raises NiwakiError unless all processes have the same weights or, without `values`, weights of the same shapes."""
    if processes() == 1:
        return
    tensors = modules.state_dict()
    digest = int.from_bytes(digest_of(tensors, values), "big", signed=True)
    own = torch.tensor([digest])
    if not (all_gather(own) == own).all():
        raise NiwakiError(
            f"{when}, the processes have different weights; all need the same processor, packages and OMP_NUM_THREADS"
        )


def digest_of(tensors: Mapping[str, Tensor], values: bool = True) -> bytes:
    """A digest of names and shapes and, unless left out, of all bits."""
    found = hashlib.blake2b(digest_size=8)
    for name, tensor in tensors.items():
        found.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        if values:
            found.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return found.digest()


@contextlib.contextmanager
def _others_answer() -> Iterator[None]:
    """Turns the errors of a broken connection into one that says what happened."""
    try:
        yield
    except RuntimeError as error:  # gloo and nccl raise it, and subclasses of it
        raise ProcessLost("another process of this training ended") from error
