"""Answers batches as tasks of a Ray cluster (`niwaki predict --on ray`), in the order of the inputs.

    driver    read ── batches ──> tasks ┬── worker: predictor.answers ──┬──> in order ── lines, state
                                        └── worker: predictor.answers ──┘

The driver reads, and writes the file of answers as it does without Ray (`partial_output.py`), so every row is written once and in order, and
a killed driver resumes. Ray runs the tasks of a lost worker again. Ray Data is not used: its workers write a file each, in any order.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError, NiwakiError, first_line
from niwaki.core.extras import explain_missing
from niwaki.engines.predictor import Predictor
from niwaki.engines.stream import Answers, Batch

RETRIES = 10  # of a task whose worker is lost; an input that ends every worker must not do so for ever
TASKS_PER_CORE = 2  # waiting or running, so that no worker waits for the driver


class Ray(Protocol):
    """What is used of the package."""

    def is_initialized(self) -> bool: ...
    def init(self, **settings: object) -> object: ...
    def shutdown(self) -> None: ...
    def cluster_resources(self) -> dict[str, float]: ...
    def remote(self, **settings: object) -> Callable[..., object]: ...
    def get(self, reference: object) -> list[object]: ...


@explain_missing()
def package() -> Ray:
    import ray

    return ray


def answered_on_ray(predictor: Predictor, source: Iterator[Batch]) -> Generator[tuple[Batch, Answers]]:
    """Each batch with its answers. The cluster is the one that RAY_ADDRESS names, or one on this machine for this call."""
    if type(predictor) is not Predictor:
        raise InputError(
            f"--on ray: runs single models, and {predictor.folder} is a {type(predictor).__name__.lower()}; leave --on out"
        )
    ray, own = package(), False
    try:
        if not ray.is_initialized():
            own = True
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield from _in_order(ray, predictor, source)
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "ray":
            raise NiwakiError(f"--on ray: {first_line(error)}; what was answered is kept") from error
        raise
    finally:
        if own:
            ray.shutdown()


def _in_order(ray: Ray, predictor: Predictor, source: Iterator[Batch]) -> Generator[tuple[Batch, Answers]]:
    task = ray.remote(num_cpus=1, max_retries=RETRIES)(answer)
    start = getattr(task, "remote")  # noqa: B009 - Ray adds it to the function
    most = max(2, int(TASKS_PER_CORE * ray.cluster_resources().get("CPU", 1)))
    folder, running = str(predictor.folder.absolute()), deque[tuple[Batch, object]]()
    for batch in source:
        running.append((batch, start(folder, predictor.engine, batch.inputs, batch.encoded)))
        if len(running) >= most:
            first, reference = running.popleft()
            yield first, ray.get(reference)
    for first, reference in running:
        yield first, ray.get(reference)


def answer(folder: str, engine: str, inputs: list[object], encoded: EncodedInputs) -> Answers:
    """In a worker."""
    return opened(folder, engine, int(os.environ.get("OMP_NUM_THREADS", "1"))).answers(inputs, encoded)


@lru_cache(maxsize=1)
def opened(folder: str, engine: str, threads: int) -> Predictor:
    """Kept between the tasks of a worker."""
    return Predictor(Path(folder), engine, threads)
