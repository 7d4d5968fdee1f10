"""kill -9 that hits where it is meant to: a child that watches its own file calls and kills itself at a chosen one.

A child is `niwaki run …` with an audit hook. Every call that opens, makes, renames or removes something below the run
folder, and every flush, is an event; where in the run it falls is its place. The place is also kept in a byte that the
parent can read, so that a kill at a random moment is known by where it fell.
"""

import contextlib
import mmap
import multiprocessing.process
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from niwaki.core.files import read_lines
from run import small

PLACES = ("starting", "recovery", "training", "save", "border", "measuring")
EVENTS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.truncate", "shutil.rmtree")
LONGEST = {"save": 60, "recovery": 25, "border": 30}  # events that a place has, about


@dataclass(frozen=True)
class Aim:
    """At the `count`-th event of a place ("any" counts all), or where `place` is empty after `seconds`."""

    place: str = ""
    count: int = 0
    seconds: float = 0.0


class Watch:
    """Lives in the child: knows the place, counts the events of the place aimed at, kills there."""

    def __init__(self, run: Path, aim: Aim, shared: mmap.mmap) -> None:
        self.run, self.aim, self.shared = str(run), aim, shared
        self.fresh = not (run / "plan.json").exists()
        self.phase, self.saving, self.left = ("starting" if self.fresh else "recovery"), False, aim.count

    def place(self, path: str) -> str:
        inside = (
            self.phase not in ("starting", "recovery")
            and any(mark in path for mark in ("/.checkpoint-", "stages/.", "/cache/", "/.teachers/"))
            and (".tmp-" in path or ".old-" in path)
        )
        return "save" if self.saving or inside else self.phase

    def note(self, place: str) -> None:
        self.shared[0] = PLACES.index(place)

    def event(self, path: str) -> None:
        if self.run not in path and "/.stages/" not in path:
            return
        place = self.place(path)
        self.note(place)
        if self.aim.place in (place, "any"):
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, name: str, args: tuple[Any, ...]) -> None:
        if name in EVENTS and args and isinstance(args[0], str | bytes | os.PathLike):
            below = args[1] if name in ("os.remove", "os.rmdir") and args[1] >= 0 else None  # a name in an open folder
            self.event(os.fsdecode(args[0]) if below is None else f"{_opened(below)}/{os.fsdecode(args[0])}")

    def flush(self, handle: int) -> None:
        """In the place of os.fsync: what a killed process wrote is not lost, only a fallen machine loses that."""
        self.event(_opened(handle))

    def during(self, phase: str, then: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.phase = phase or self.phase
            self.note(self.phase)
            result = call(*args, **kwargs)
            self.phase = then
            self.note(then)
            return result

        return watched

    def during_block(self, phase: str, then: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same for a context manager."""

        @contextlib.contextmanager
        def watched(*args: Any) -> Iterator[Any]:
            self.phase = phase
            self.note(phase)
            with call(*args) as value:
                yield value
            self.phase = then
            self.note(then)

        return watched

    def while_saving(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.saving = True
            self.note("save")
            call(*args, **kwargs)
            self.saving = False
            self.note(self.phase)

        return watched


def _opened(handle: int) -> str:
    return str(Path(f"/proc/self/fd/{handle}").readlink())


def _child(arguments: list[str], log: str, run: str, aim: Aim, shared: str) -> None:
    from niwaki.run import runner, stage
    from niwaki.train.checkpoints import Checkpoints
    from niwaki.train.loop import _Fit

    with open(shared, "r+b") as file:  # noqa: PTH123 - before the watch begins
        watch = Watch(Path(run), aim, mmap.mmap(file.fileno(), 1))
    _Fit._step = watch.during("", "training", _Fit._step)  # the first step done, this start has recovered
    Checkpoints.save = watch.while_saving(Checkpoints.save)
    stage.commit_folder = watch.during_block("training", "border", stage.commit_folder)
    begun, load = [], stage.load_start_model

    def loaded(job: Any) -> Any:
        """A stage begun after another was finished by this process is no recovery."""
        model = load(job)
        watch.phase = "training" if begun or watch.fresh else "recovery"
        begun.append(job)
        return model

    stage.load_start_model = loaded
    runner.run_baseline = watch.during("measuring", "measuring", runner.run_baseline)
    os.fsync = watch.flush
    sys.addaudithook(watch.hook)
    small._child(arguments, log, flush=watch.flush)


def begin(arguments: list[str], log: Path, run: Path, aim: Aim, shared: Path) -> multiprocessing.process.BaseProcess:
    process = small.forkserver().Process(target=_child, args=(arguments, str(log), str(run), aim, str(shared)))
    process.start()
    return process


@dataclass
class Killed:
    """What a run went through."""

    places: list[str]
    open_attempts: set[str] = field(default_factory=set)  # those that the ledger had open when a kill came
    repeated: int = 0  # finished stages that were made again


def drawn_aims(draw: random.Random, whole: float, weights: dict[str, int]) -> Iterator[Aim]:
    """Without end; "random" falls within a twelfth of the seconds that a `whole` run takes."""
    while True:
        place = draw.choices(list(weights), list(weights.values()))[0]
        random_moment = Aim(seconds=draw.uniform(0.01, 0.08) * whole)
        yield random_moment if place == "random" else Aim(place, draw.randint(1, LONGEST[place]))


def kill_often(recipe: Path, run: Path, log: Path, aims: Iterator[Aim]) -> Killed:
    """Runs the recipe to its end, with a kill for each aim while there are any; every start is the same command."""
    arguments = [*command(recipe, run), "--quiet"]
    shared = log.with_name(f"{run.name}.place")
    shared.write_bytes(b"\0")
    killed = Killed([])
    finished: dict[str, tuple[int, int]] = {}
    while True:
        aim = next(aims, Aim())
        process = begin(arguments, log, run, aim, shared)
        process.join(aim.seconds or None)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
            process.join()
        finished = repeated_stages(run, finished, killed)
        if process.exitcode == 0:
            return killed
        assert process.exitcode == -signal.SIGKILL, log.read_text()
        killed.places.append(PLACES[shared.read_bytes()[0]])
        killed.open_attempts |= open_attempts(run)


def repeated_stages(run: Path, before: dict[str, tuple[int, int]], killed: Killed) -> dict[str, tuple[int, int]]:
    """Stage → the file of its weights; one that is gone or another than before was made twice."""
    now = {
        path.parts[-3]: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in run.glob("stages/[!.]*/model/model.safetensors")
    }
    killed.repeated += sum(now.get(stage) != file for stage, file in before.items())
    return now


def open_attempts(run: Path) -> set[str]:
    lines = read_lines(run / "ledger.jsonl")
    ids = {kind: {line["id"] for line in lines if line["event"] == kind} for kind in ("begin", "charge")}
    return ids["begin"] - ids["charge"]


def command(recipe: Path, run: Path) -> list[str]:
    """The teacher cache is in the run folder here, because runs that are compared must not share it."""
    return ["run", str(recipe), "--out", str(run), "--set", f"cache.folder={run}/cache"]


def run_alone(recipe: Path, run: Path, log: Path) -> float:
    """The run that nobody disturbs; the seconds it took."""
    began = time.monotonic()
    process = small.begin([*command(recipe, run), "--quiet"], log)
    process.join()
    assert process.exitcode == 0, log.read_text()
    return time.monotonic() - began
