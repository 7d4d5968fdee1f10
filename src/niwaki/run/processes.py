"""A run in several processes, which torchrun or `accelerate launch` started.

    process 0    plan ──> stage: load ── prepare ── teach ── train ── finish ── publish ── measure ──> next stage … ──> report
    the others   plan ──> wait   load ── prepare ── teach ── train ── wait …

Process 0 runs the recipe as if it were alone, and announces each training. The others take part in it and write nothing into the run
folder. Messages go through the key-value store of the launcher; gradients through `train/micro_shards.py`.
"""

import contextlib
import json
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from niwaki.core import log
from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.json_types import Json
from niwaki.core.run_folder import RECIPE
from niwaki.core.signals import INTERRUPTED, stopping
from niwaki.meter.reading import Reading, with_parallel
from niwaki.meter.window import Window
from niwaki.run.launcher import check_launcher, started

if TYPE_CHECKING:
    from niwaki.run.plan import Plan
    from niwaki.run.steps.job import StageJob

POLL_SECONDS, BEAT_SECONDS, HEARD_SECONDS, LEAVE_SECONDS = 0.05, 1.0, 1.5, 10.0


class ProcessGroup:
    """The processes of this run. `_group` is the one that this process belongs to, as torch's default process group is one per process."""

    runs: ClassVar[int] = 0  # of this process

    def __init__(self) -> None:
        from torch.distributed import PrefixStore

        from niwaki.run.heartbeat import Heartbeat
        from niwaki.train import distributed

        check_launcher()
        ProcessGroup.runs += 1
        self.store = PrefixStore(f"run {ProcessGroup.runs}", distributed.join())
        self.own, self.world = distributed.number(), started()
        self.heartbeat = Heartbeat(self.store, self.own, self.world)
        self.messages = 0  # sent by process 0, or read by another
        self.attempt = ""  # what the readings of the other processes belong to
        self.spent = Reading.zero()  # in trainings of this attempt that are over
        self.folder = Path()

    # process 0

    def announce(self, message: Json) -> None:
        self.messages += 1
        self.store.set(f"message/{self.messages}", json.dumps(message))

    def announce_plan(self, plan: "Plan", folder: Path) -> None:
        self.announce(
            {
                "do": "plan",
                "name": plan.name,
                "folder": str(folder.absolute()),
                "keys": keys_of(plan),
                "on": platform.node(),
            }
        )

    @contextlib.contextmanager
    def training(self, job: "StageJob") -> Iterator[None]:
        """The other processes take part in the training inside."""
        stage = job.plan.stage(job.name)
        specs = [stage.spec, *(variant.spec for variant in stage.variants)]
        variant = next(number for number, spec in enumerate(specs) if spec is job.stage.spec)
        self.attempt = job.attempt.line["id"]
        fold = None if job.fold is None else job.fold.tolist()
        place = {
            "seed": job.plan.recipe.seed,
            "stage": job.name,
            "variant": variant,
            "key": job.stage.key,
            "fold": fold,
        }
        self.announce({"do": "train", "attempt": self.attempt, **place})
        yield
        self._wait([f"trained/{self.messages}/{process}" for process in range(1, self.world)])

    def with_others(self, own: Reading) -> Reading:
        """What this process spent in an attempt, with what the others spent in its trainings."""
        machines = {platform.node()}
        with contextlib.suppress(RuntimeError):  # the store is gone: what this process knows is charged
            for process in range(1, self.world):
                if self.store.check([key := f"spent/{process}"]):
                    found = json.loads(self.store.get(key))
                    if found["attempt"] == self.attempt:
                        own = with_parallel(own, Reading.from_dict(found["reading"]), found["node"] in machines)
                        machines.add(found["node"])
        return own

    def finish(self, folder: Path, report: Json) -> None:
        """Dismisses the others, with the result."""
        self.announce({"do": "end", "folder": str(folder.absolute()), "report": report})
        with contextlib.suppress(NiwakiError):
            self._wait(self._leaving, LEAVE_SECONDS)

    @property
    def _leaving(self) -> list[str]:
        return [f"left/{process}" for process in range(1, self.world)]

    def leave(self) -> None:
        """After a failure. The first process waits a moment until the others have heard of it: the store may end with it."""
        end = time.monotonic() + HEARD_SECONDS
        with contextlib.suppress(RuntimeError):
            if self.own:
                self.store.set(f"left/{self.own}", "1")
            while not self.own and not self.store.check(self._leaving) and time.monotonic() < end:
                time.sleep(POLL_SECONDS)

    # the others

    def follow(self) -> tuple[Path, Json]:
        """Takes part in all trainings; returns the run folder and the report."""
        from niwaki.run.runner import quiet_libraries

        plan: Plan | None = None
        quiet_libraries()
        with log.silenced(), stopping() as should_stop:
            while (message := self._next(should_stop))["do"] != "end":
                if message["do"] == "plan":
                    plan, self.folder = self._same_plan(message), Path(message["folder"])
                elif plan is not None:
                    self._train(plan, message, should_stop)
            self.store.set(f"left/{self.own}", "1")
        return Path(message["folder"]), message["report"]

    def _next(self, should_stop: Callable[[], bool]) -> Json:
        self.messages += 1
        self._wait([key := f"message/{self.messages}"], should_stop=should_stop)
        return json.loads(self.store.get(key))

    def _same_plan(self, message: Json) -> "Plan":
        from niwaki.run.plan import make_plan
        from niwaki.run.recipe import read

        path = Path(message["folder"]) / RECIPE
        if not path.is_file():
            raise InputError(
                f"{path}: is not there on {platform.node()}; all processes need the run folder, on a disk that they share"
            )
        plan = make_plan(read(path, []), message["name"])
        for own, first in zip(keys_of(plan), message["keys"], strict=True):
            if own != first:
                raise InputError(
                    f"stage '{own[0]}': has another key on {platform.node()} than on {message['on']}; all processes need the same data, "
                    "models, packages and kind of processor"
                )
        return plan

    def _train(self, plan: "Plan", message: Json, should_stop: Callable[[], bool]) -> None:
        from niwaki.run.stage import train_model
        from niwaki.run.steps.job import StageJob
        from niwaki.train.loop import Interrupted

        seeded = next(one for one in (plan, *plan.repeats) if one.recipe.seed == message["seed"])
        stage = seeded.stage(message["stage"])
        variant = [replace(stage, variants=()), *stage.variants][message["variant"]]
        fold = None if message["fold"] is None else np.array(message["fold"])
        if message["attempt"] != self.attempt:
            self.attempt, self.spent = message["attempt"], Reading.zero()
        with plan.recipe.meter.window() as window, contextlib.suppress(Interrupted):  # process 0 saves, and reports it
            beat = Beat(self, window)
            train_model(StageJob(seeded, replace(variant, key=message["key"]), self.folder, beat, should_stop, fold))
        self.spent += window.reading
        self.report(self.spent)
        self.store.set(f"trained/{self.messages}/{self.own}", "1")

    def report(self, spent: Reading) -> None:
        found = {"attempt": self.attempt, "node": platform.node(), "reading": spent.to_dict()}
        self.store.set(f"spent/{self.own}", json.dumps(found))

    # both

    def _wait(
        self, keys: list[str], seconds: float = float("inf"), should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Until all keys are there. Polls, so that signals are handled."""
        from niwaki.run.heartbeat import FAILURE
        from niwaki.train.distributed import ProcessLost

        began = time.monotonic()
        try:
            while not self.store.check(keys):
                if self.store.check([FAILURE]) or time.monotonic() - began > seconds:
                    raise ProcessLost("another process failed")
                if should_stop():
                    raise KeyboardInterrupt
                time.sleep(POLL_SECONDS)
        except RuntimeError as error:
            raise ProcessLost("another process ended") from error

    def failed(self, error: BaseException) -> BaseException:
        """What to raise in this process. Only the process that fails first reports why."""
        from niwaki.run.heartbeat import announce_failure, failure_code
        from niwaki.train.distributed import ProcessLost

        code = error.exit_code if isinstance(error, NiwakiError) else 1 if isinstance(error, Exception) else INTERRUPTED
        if isinstance(error, ProcessLost):
            error = self._lost(error)
        if not announce_failure(self.store, code):
            with contextlib.suppress(RuntimeError):
                code = failure_code(self.store)
            return SystemExit(code)
        if self.own and isinstance(error, InputError):
            return InputError([f"process {self.own} of {self.world}: {fault}" for fault in error.faults])
        return error

    def _lost(self, error: NiwakiError) -> NiwakiError:
        """Names the processes that show no sign of life, unless one of them reported a failure."""
        from niwaki.run.heartbeat import FAILURE, SILENT_SECONDS

        end = time.monotonic() + 2 * SILENT_SECONDS
        with contextlib.suppress(RuntimeError):
            while not self.store.check([FAILURE]) and not self.heartbeat.silent() and time.monotonic() < end:
                time.sleep(POLL_SECONDS)
        silent = ", ".join(map(str, self.heartbeat.silent()))
        who = f"process {silent} of {self.world}" if silent else f"one of the other {self.world - 1} processes"
        return NiwakiError(f"{who} ended; what was saved is kept, the same command goes on from there")


class Beat:
    """What a process that follows has instead of an attempt in the ledger."""

    def __init__(self, group: ProcessGroup, window: Window) -> None:
        self.group, self.window, self.last = group, window, 0.0
        self.line: Json = {"id": group.attempt}

    def beat(self) -> None:
        if time.monotonic() - self.last > BEAT_SECONDS:
            self.last = time.monotonic()
            self.group.report(self.peek())

    def peek(self) -> Reading:
        return self.group.spent + self.window.peek()


_group: ProcessGroup | None = None


def current() -> ProcessGroup | None:
    return _group


@contextlib.contextmanager
def joined() -> Iterator[ProcessGroup]:
    """Connects the processes of a run until its end."""
    global _group
    group = _group = ProcessGroup()
    try:
        yield group
    except BaseException as error:
        if threading.current_thread() is threading.main_thread():
            signal.signal(
                signal.SIGTERM, signal.SIG_IGN
            )  # the launcher ends all when one has ended, before it is reported which
        error = group.failed(error)
        group.leave()
        raise error from None
    finally:
        group.heartbeat.close()
        _group = None


def keys_of(plan: "Plan") -> list[list[str]]:
    return [[stage.spec.name, stage.key] for one in (plan, *plan.repeats) for stage in one.stages]
