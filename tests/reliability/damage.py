"""Damage to what a run keeps, and what is made of it: a bit turned over, a file cut short, gone, or in another's place."""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import tiny
from niwaki.core import files, log
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.core.run_folder import fault_in_measurement, fault_in_stage
from niwaki.engines.predictor import Predictor
from niwaki.meter.ledger import Ledger
from niwaki.run.runner import uncounted
from niwaki.train.checkpoints import Checkpoints, TrainerState
from niwaki.train.optimizer import make_optimizer
from niwaki.train.settings import TrainSettings
from niwaki.train.teacher_cache import fault_in_block
from reliability.same import TIME_DEPENDENT

KINDS = ("flip", "cut", "missing", "swapped")
TEXTS = ["a good film.", "the plot was dull and the actor weak"]
MEASUREMENTS = ("baseline.json", "comparisons.json", "speed.json")


@dataclass(frozen=True)
class Verdict:
    """`named` is the line that tells of the damage. Without one, `harmless` says that what is read is as before."""

    named: str = ""
    harmless: bool = False

    @property
    def good(self) -> bool:
        return bool(self.named) or self.harmless


Look = Callable[[], Verdict]


@dataclass(frozen=True)
class Subject:
    """Some files that belong together, and how the run looks at them. `others` are only there to change places with."""

    name: str
    paths: list[Path]
    look: Look
    others: tuple[Path, ...] = ()


@contextmanager
def damaged(subject: Subject, kind: str, draw: random.Random) -> Iterator[Path]:
    """One file of the subject, damaged; afterwards all are as they were."""
    among = [*subject.paths, *subject.others]
    contents = {path: path.read_bytes() for path in among}
    target = draw.choice(subject.paths)
    harm(target, kind, draw, among)
    try:
        yield target
    finally:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def harm(target: Path, kind: str, draw: random.Random, among: list[Path]) -> None:
    content = target.read_bytes()
    others = [path for path in among if path != target and path.read_bytes() != content]
    if kind == "swapped" and others:
        other = draw.choice(others)
        target.write_bytes(other.read_bytes())
        other.write_bytes(content)
    elif kind == "missing" or not content:
        target.unlink()
    elif kind == "cut":
        target.write_bytes(content[: draw.randrange(len(content))])
    else:
        place = draw.randrange(len(content))
        target.write_bytes(content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :])


def stage_subjects(run: Path) -> list[Subject]:
    found = []
    for folder in sorted(run.glob("stages/[!.]*")):
        key = read_json(folder / "result.json")["key"]
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        found.append(Subject("stage", paths, lambda folder=folder, key=key: _stage(folder, key)))
    return found


def _stage(folder: Path, key: str) -> Verdict:
    """Cards are made anew with each report and are no part of the commit; a MANIFEST may differ in what says nothing."""
    fault = fault_in_stage(folder, key)
    if fault is not None:
        return Verdict(named=fault)
    there = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in TIME_DEPENDENT
    }
    return Verdict(harmless=there | {"result.json"} == files.committed_files(folder))


def served_subjects(run: Path) -> list[Subject]:
    """The models of finished stages, as one who only predicts meets them; nobody makes them again there."""
    return [
        Subject("served", [path for path in sorted(folder.rglob("*")) if path.is_file()], _served(folder / "model"))
        for folder in sorted(run.glob("stages/[!.]*"))
    ]


def _served(folder: Path) -> Look:
    def answers() -> list[str]:
        return [answer.line() for answer in Predictor(folder, threads=1).predict(TEXTS)]

    whole = answers()

    def look() -> Verdict:
        try:
            return Verdict(harmless=answers() == whole)
        except InputError as error:
            return Verdict(named=str(error))

    return look


def cache_subject(run: Path) -> Subject:
    folder = next(path for place in (run / "cache", run.parent / ".teachers") for path in place.glob("*/[!.]*"))
    return Subject(
        "cache",
        sorted(folder.iterdir()),
        lambda: Verdict(named=fault) if (fault := fault_in_block(folder)) else Verdict(harmless=True),
    )


def measurement_subject(run: Path) -> Subject:
    """One subject per JSON file, with its sibling files."""
    whole = {name: read_json(run / name) for name in MEASUREMENTS}

    def look() -> Verdict:
        faults = [fault for name in MEASUREMENTS if (fault := _measurement(run / name, whole[name]["inputs"]))]
        same = not faults and {name: read_json(run / name) for name in MEASUREMENTS} == whole
        return Verdict(named="; ".join(faults), harmless=same)

    return Subject("measurement", [run / name for name in (*MEASUREMENTS, "baseline.npy")], look)


def _measurement(path: Path, inputs: object) -> str | None:
    if not path.exists():
        return f"{path}: is missing"  # and is then made
    fault = fault_in_measurement(path)
    return fault if fault or read_json(path)["inputs"] == inputs else f"{path}: was made of something else"


def ledger_subject(run: Path) -> Subject:
    ledger = Ledger(run / "ledger.jsonl")
    charges = {line["id"]: line for line in ledger.lines()}
    keys = {line["key"]: line["stage"] for line in charges.values()} | {"": "baseline"}

    def look() -> Verdict:
        files._warned.clear()
        with listening() as messages:
            now = {line["id"]: line for line in ledger.lines()}
            problems = [*messages, *(f"no charge for {name}" for name in uncounted(ledger, [*keys.values(), "race"]))]
        wrong = [id for id, line in now.items() if line["status"] != "killed" and line != charges.get(id)]
        if wrong:
            return Verdict()
        return (
            Verdict(named=problems[0])
            if problems
            else Verdict(harmless=now.keys() == charges.keys() or len(now) >= len(charges))
        )

    return Subject(
        "ledger", [run / "ledger.jsonl"], look, (next(run.glob("stages/[!.]*/train.jsonl")), run / "plan.json")
    )


@contextmanager
def listening() -> Iterator[list[str]]:
    """What `say` says meanwhile."""
    messages: list[str] = []
    real, files.info = files.info, messages.append
    try:
        yield messages
    finally:
        files.info = real


class TwoStates:
    """Two training states of a tiny model; what is loaded must be one of them, or nothing, and never a mixture."""

    def __init__(self, folder: Path) -> None:
        self.work, self.keep = folder / ".work-teacher-0", folder / "kept"
        self.modules, self.optimizer = self._fresh()
        states = Checkpoints(self.work)
        self.saved = {}
        for step in (1, 2):
            for parameter in self.modules.parameters():
                parameter.grad = torch.full_like(parameter, 0.1 * step)
            self.optimizer.step()
            best = {name: value.clone() for name, value in self.modules["network"].state_dict().items()}
            states.save(
                TrainerState(step=step, best_score=0.5, history=[{"step": step}]), self.modules, self.optimizer, best
            )
            self.saved[step] = {name: value.clone() for name, value in self.modules.state_dict().items()}
        self.begin = {name: value.clone() for name, value in self._fresh()[0].state_dict().items()}
        shutil.copytree(self.work, self.keep)

    def _fresh(self) -> tuple[nn.ModuleDict, torch.optim.Optimizer]:
        modules = nn.ModuleDict(
            {"network": tiny.model("bert", layers=1, width=16, ffn=16).network, "helpers": nn.ModuleDict()}
        )
        return modules, make_optimizer(modules, TrainSettings())

    def subject(self) -> Subject:
        return Subject("state", [path for path in sorted(self.work.rglob("*")) if path.is_file()], self.look)

    def look(self) -> Verdict:
        from niwaki.train import checkpoints

        messages: list[str] = []
        real, checkpoints.info = checkpoints.info, messages.append
        with torch.no_grad():
            for name, value in self.modules.state_dict().items():
                value.copy_(self.begin[name])
        try:
            position, _ = Checkpoints(self.work).load(self.modules, self.optimizer)
        finally:
            checkpoints.info = real
            shutil.rmtree(self.work)
            shutil.copytree(self.keep, self.work)
        wanted = self.saved.get(position.step, self.begin)
        whole = all(torch.equal(value, wanted[name]) for name, value in self.modules.state_dict().items())
        if not whole or (position.step and position.history != [{"step": position.step}]):
            return Verdict()
        return Verdict(named=messages[0] if messages else "", harmless=position.step == 2)


def subjects(run: Path, folder: Path) -> dict[str, list[Subject]]:
    """All that a run keeps; `folder` is for training states of our own."""
    log.quiet()
    return {
        "stage": stage_subjects(run),
        "served": served_subjects(run),
        "state": [TwoStates(folder).subject()],
        "cache": [cache_subject(run)],
        "measurement": [measurement_subject(run)],
        "ledger": [ledger_subject(run)],
    }
