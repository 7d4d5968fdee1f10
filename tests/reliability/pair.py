"""Processes that train one tiny model together, as torchrun starts them: the same variables, the same package below."""

import hashlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import teaching
import tiny
from run import small

MOMENTS = (
    "step",
    "exchange",
    "save",
)  # after a step, before the gradients are exchanged, and in the middle of a checkpoint
Kill = tuple[int, int, str]  # the process, its step counted from the start of the process, and the moment


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def train(
    folder: Path, kind: str, kill: Kill = (-1, 0, ""), stop: tuple[int, int] = (-1, 0), world: int = 2
) -> list[int]:
    """Exit codes. `stop` says which process Ctrl-C reaches, and when. After a kill the others end by themselves."""
    folder.mkdir(exist_ok=True)
    port = free_port()
    processes = []
    for rank in range(world):
        process = small.forkserver().Process(target=_child, args=(rank, world, port, str(folder), kind, kill, stop))
        process.start()
        processes.append(process)
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def _child(rank: int, world: int, port: int, folder: str, kind: str, kill: Kill, stop: tuple[int, int]) -> None:
    if world > 1:
        os.environ.update(
            RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)
        )
        from niwaki.train import distributed

        distributed.join()
    written: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        changes = event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir") or (
            event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if changes and folder in str(args[0]) and f"{folder}/cache" not in str(args[0]):
            written.append(f"{event} {args[0]}")

    sys.addaudithook(watch)
    main(rank, Path(folder), kind, kill, stop, written)


def main(rank: int, folder: Path, kind: str, kill: Kill, stop: tuple[int, int], written: list[str]) -> None:
    """Trains to the end and writes, next to the folder, a hash of the weights and the files that this process wrote."""
    import torch

    from niwaki.core import log
    from niwaki.train import teacher_cache
    from niwaki.train.distributed import ProcessLost
    from niwaki.train.loop import Interrupted, fit

    log.quiet()
    torch.set_num_threads(1)
    os.fsync = lambda handle: None
    done = 0

    def die(moment: str) -> None:
        if kill == (rank, done, moment):
            os.kill(os.getpid(), signal.SIGKILL)

    def should_stop() -> bool:
        nonlocal done
        done += 1
        die("step")
        return stop == (rank, done)

    die_at_moments(die)
    teacher_cache.BLOCK = 7  # the processes compute different blocks of the teacher's outputs
    job = make_job(folder, kind, should_stop)
    try:
        fit(job)
    except Interrupted:
        sys.exit(130)
    except ProcessLost:
        sys.exit(1)
    digest = hashlib.sha256()
    for value in job.model.network.state_dict().values():
        digest.update(value.numpy().tobytes())
    helpers = [
        value.numpy().tobytes()
        for method in job.methods
        if method.helpers
        for value in method.helpers.state_dict().values()
    ]
    digest.update(b"".join(helpers))
    folder.with_name(f"{folder.name}-{rank}.txt").write_text("\n".join([digest.hexdigest(), *written]))


def die_at_moments(die: Callable[[str], None]) -> None:
    from niwaki.train import checkpoints, distributed

    exchange, write = distributed.all_to_all, checkpoints.write_json

    def dying_exchange(*arguments: Any) -> Any:
        die("exchange")
        return exchange(*arguments)

    def dying_write(*arguments: Any) -> None:
        die("save")
        write(*arguments)

    distributed.all_to_all, checkpoints.write_json = dying_exchange, dying_write


def make_job(folder: Path, kind: str, should_stop: Any) -> Any:
    """A student with a teacher whose layers it reads (the method has parameters), or whose logits are cached."""
    import torch

    from niwaki.methods._method import Context, Reshapes, followed_activations, methods_with
    from niwaki.methods.distill.logits import Logits
    from niwaki.methods.distill.tinybert import TinyBert
    from niwaki.models.edits.hidden_size import HiddenSize
    from niwaki.objectives.supervised import Supervised
    from niwaki.tasks.classification import Classification
    from niwaki.train.collator import Collator, encode_split
    from niwaki.train.loop import Job
    from niwaki.train.settings import TrainSettings

    cpu = torch.device("cpu")
    task = Classification(path=str(folder.parent / "rows.csv"), validation=0.2, test=0.2)
    model, whole = tiny.model("bert", layers=2, seed=1), tiny.model("bert", layers=4, seed=2)
    model.apply_edit(HiddenSize(keep=16))
    methods = [TinyBert()] if kind == "layers" else [Logits()]
    early = Context(0, None, whole, None, None, task.criterion.soft_loss, None)
    for method in methods_with(methods, Reshapes):
        model = method.prepare(model, early)
    activations = followed_activations(methods, model, whole)
    answering = teaching.teacher(
        whole, Collator(encode_split(whole, task, "train"), whole, cpu), activations, folder / "cache"
    )
    context = Context(0, answering, whole, None, None, task.criterion.soft_loss, None)
    train, validation = (Collator(encode_split(model, task, part), model, cpu) for part in ("train", "validation"))
    settings = TrainSettings(epochs=6, batch=8, lr=1e-3, dropout=0.2, save_seconds=0.001, micro_shards=4)
    return Job(
        "pair", model, methods, context, Supervised(task), train, validation, settings, "fp32", 7, folder, should_stop
    )
