"""The saves that a failing disk is tried on: a training state, a stage, a measurement, a line of the ledger.

Each is made over and over from the same beginning. `check` says what is wrong afterwards: what was there before must be
whole, or what is new; and the same save must then succeed.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

import tiny
from niwaki.core.files import (
    append_line,
    commit_folder,
    fault_in_folder,
    read_json,
    read_lines,
    remove_leftovers,
    write_json,
)
from niwaki.engines.export import write_graph
from niwaki.train.checkpoints import Checkpoints, TrainerState
from niwaki.train.optimizer import make_optimizer
from niwaki.train.settings import TrainSettings


@dataclass(frozen=True)
class Save:
    name: str
    begin: Callable[[], None]  # puts the folder as it is before
    save: Callable[[], None]
    check: Callable[[bool], str]  # whether it reported a save → what is wrong, or ""


def state_save(folder: Path) -> Save:
    modules = nn.ModuleDict(
        {"network": tiny.model("bert", layers=1, width=16, ffn=16).network, "helpers": nn.ModuleDict()}
    )
    optimizer = make_optimizer(modules, TrainSettings())
    work, backup = folder / "work", folder / "work-backup"
    values = {}
    for step in (1, 2, 3):
        for parameter in modules.parameters():
            parameter.grad = torch.full_like(parameter, 0.1)
        optimizer.step()
        values[step] = {name: value.clone() for name, value in modules.state_dict().items()}
        if step < 3:
            Checkpoints(work).save(TrainerState(step=step), modules, optimizer, {})
    shutil.copytree(work, backup)

    def begin() -> None:
        shutil.rmtree(work)
        shutil.copytree(backup, work)
        modules.load_state_dict(values[3])

    states = Checkpoints(work)

    def save() -> None:
        states.save(TrainerState(step=3), modules, optimizer, {})

    def check(saved: bool) -> str:
        position, _ = Checkpoints(work).load(modules, optimizer)
        if position.step not in ((3,) if saved else (2, 3)):
            return f"goes on from step {position.step}"
        same = all(torch.equal(value, values[position.step][name]) for name, value in modules.state_dict().items())
        return "" if same else "other weights"

    return Save("training state", begin, save, check)


def stage_save(folder: Path) -> Save:
    """As a stage is saved, over one that is there."""
    model, target = tiny.model("bert", layers=1, width=16, ffn=16), folder / "stages" / "teacher-0"

    def save(version: int = 2) -> None:
        with commit_folder(target) as place:
            (place / "model").mkdir()
            model.save(place / "model")
            write_graph(model, place / "model")
            write_json(place / "result.json", {"version": version})

    def begin() -> None:
        shutil.rmtree(folder / "stages", ignore_errors=True)
        shutil.copytree(backup, target)

    backup = folder / "stage-backup"
    save(1)
    shutil.copytree(target, backup)

    def check(saved: bool) -> str:
        remove_leftovers(target.parent)
        fault = fault_in_folder(target)
        if fault is not None:
            return fault
        version = read_json(target / "result.json")["version"]
        if len(list(target.parent.iterdir())) != 1:
            return "something is left next to it"
        return "" if version in ((2,) if saved else (1, 2)) else f"version {version}"

    return Save("stage", begin, save, check)


def json_save(folder: Path) -> Save:
    path = folder / "report.json"

    def check(saved: bool) -> str:
        value = read_json(path)["version"]
        return "" if value in ((2,) if saved else (1, 2)) else f"version {value}"

    return Save(
        "measurement or report",
        lambda: write_json(path, {"version": 1}),
        lambda: write_json(path, {"version": 2}),
        check,
    )


def ledger_save(folder: Path) -> Save:
    path = folder / "ledger.jsonl"

    def begin() -> None:
        path.unlink(missing_ok=True)
        append_line(path, {"n": 1})

    def check(saved: bool) -> str:
        append_line(path, {"n": 3})  # it goes on later
        found = [line["n"] for line in read_lines(path)]
        return "" if found in ([[1, 2, 3]] if saved else [[1, 3], [1, 2, 3]]) else f"lines {found}"

    return Save("ledger", begin, lambda: append_line(path, {"n": 2}), check)


def all_saves(folder: Path) -> list[Save]:
    return [state_save(folder), stage_save(folder), json_save(folder), ledger_save(folder)]
