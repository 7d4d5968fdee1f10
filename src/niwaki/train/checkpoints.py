"""Training states on disk: everything needed to go on as if nothing had happened, saved whole or not at all."""

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from niwaki.core.files import (
    commit_folder,
    committed_files,
    fault_in_folder,
    newest_first,
    read_json,
    remove_leftovers,
    write_json,
)
from niwaki.core.log import info
from niwaki.core.signals import saving
from niwaki.models.ties import unique_tensors, with_tied_names

KEEP_LAST = 2  # the newest and the one before it, should the newest be damaged


@dataclass
class TrainerState:
    """Where training is. Data order and randomness are computed from it, so it is all that must be remembered."""

    step: int = 0  # steps done
    best_score: float | None = None
    best_step: int = 0
    validations_without_gain: int = 0
    stopped: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)


class Checkpoints:
    """The states of one stage, in its work folder. Of several processes only one `is_main`."""

    def __init__(self, folder: Path, is_main: bool = True) -> None:
        self.folder, self.is_main = folder, is_main
        if is_main:
            folder.mkdir(parents=True, exist_ok=True)
            remove_leftovers(folder)

    def save(
        self, state: TrainerState, modules: nn.ModuleDict, optimizer: torch.optim.Optimizer, best: dict[str, Tensor]
    ) -> None:
        with saving(), commit_folder(self.folder / f"checkpoint-{state.step:08d}") as target:
            save_file(unique_tensors(modules), target / "weights.safetensors")
            save_file(flat_optimizer(optimizer), target / "optimizer.safetensors")
            if best:
                save_file(best, target / "best.safetensors")
            write_json(target / "trainer_state.json", {**asdict(state), "of": self.folder.name})
        for old in newest_first(self._all())[KEEP_LAST:]:
            shutil.rmtree(old, ignore_errors=True)  # one too many does no harm

    def load(self, modules: nn.ModuleDict, optimizer: torch.optim.Optimizer) -> tuple[TrainerState, dict[str, Tensor]]:
        """The newest sound state, put into the modules and the optimizer; a fresh Position where there is none."""
        for folder in newest_first(self._all()):
            fault = fault_in_folder(folder) or self._mismatch(folder, modules)
            if fault is None:
                return self._fill(folder, modules, optimizer)
            info(f"{fault}; going back to the state before it")
            if self.is_main:
                shutil.rmtree(folder)  # else it would be counted among those that are kept
        return TrainerState(), {}

    def _mismatch(self, folder: Path, modules: nn.ModuleDict) -> str | None:
        """Why a sound state is not one of this stage: put here by hand, or of a model of another shape."""
        said = read_json(folder / "trainer_state.json").get("of", self.folder.name)
        with safe_open(folder / "weights.safetensors", framework="pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        own = {name: tuple(value.shape) for name, value in unique_tensors(modules).items()}
        return None if said == self.folder.name and shapes == own else f"{folder}: is the state of another stage"

    def _fill(
        self, folder: Path, modules: nn.ModuleDict, optimizer: torch.optim.Optimizer
    ) -> tuple[TrainerState, dict[str, Tensor]]:
        modules.load_state_dict(with_tied_names(modules, load_file(folder / "weights.safetensors")))
        fill_optimizer(optimizer, load_file(folder / "optimizer.safetensors"))
        said = {key: value for key, value in read_json(folder / "trainer_state.json").items() if key != "of"}
        best = load_file(folder / "best.safetensors") if "best.safetensors" in committed_files(folder) else {}
        return TrainerState(**said), best

    def _all(self) -> list[Path]:
        return list(self.folder.glob("checkpoint-*"))


def flat_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory as named tensors; its settings are in the recipe."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value.contiguous() for number, entry in state.items() for name, value in entry.items()}


def fill_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
