"""What torchrun or `accelerate launch` started this process for, from the environment variables that they set."""

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError

if TYPE_CHECKING:
    from niwaki.run.plan import Plan

NEEDS_OTHER_LOOP = {  # what `accelerate launch` was given, by its environment variables
    "ACCELERATE_USE_FSDP": "FSDP stores a part of each matrix per process, and methods, checkpoints and the fixed order of sums read whole ones",
    "ACCELERATE_USE_DEEPSPEED": "DeepSpeed brings its own optimizer and training loop",
    "ACCELERATE_USE_MEGATRON_LM": "Megatron-LM brings its own model and training loop",
}


def started() -> int:
    """How many processes the launcher started; 1 without a launcher."""
    count = os.environ.get("WORLD_SIZE", "1")
    return int(count) if count.isdigit() else 1


def is_first() -> bool:
    """Whether this process writes and prints the results."""
    return started() == 1 or os.environ.get("RANK", "0") == "0"


@contextlib.contextmanager
def reported_once() -> Iterator[None]:
    """What all processes reject alike is reported by the first one."""
    try:
        yield
    except InputError as error:
        if is_first():
            raise
        raise SystemExit(error.exit_code) from None


@reported_once()
def check_launcher() -> None:
    """Rejects what `accelerate launch` may be given and this training does not do."""
    for name, reason in NEEDS_OTHER_LOOP.items():
        if os.environ.get(name, "").lower() in ("1", "true"):
            raise InputError(f"{name}: {reason}; launch plain data parallel processes, without it")
    if (wanted := os.environ.get("ACCELERATE_MIXED_PRECISION", "no")) != "no":
        raise InputError(
            f"accelerate launch --mixed_precision {wanted}: the recipe decides; set train.precision instead"
        )


def check_stages(plan: "Plan") -> None:
    """Every batch must have a part for each process."""
    for number, stage in enumerate(plan.stages):
        train = stage.spec.train
        if train and train.micro_shards < started():
            raise InputError(
                f"stages.{number}.train.micro_shards: is {train.micro_shards}, and {started()} processes were started; set it to {started()} or "
                "more (the weights depend on it, and not on the number of processes)"
            )
