"""Checkpoints: everything needed to resume training with the same result, saved completely or not at all."""

import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

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
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.core.signals import saving
from niwaki.models.ties import unique_tensors, with_tied_names

KEEP_LAST = 2  # the newest, and the one before it in case the newest is damaged


@dataclass
class TrainerState:
    """The position in training. Data order and random numbers are computed from it."""

    step: int = 0  # steps done
    best_score: float | None = None
    best_step: int = 0
    validations_without_gain: int = 0
    stopped: bool = False
    start_is_best: bool = False  # whether the weights from before the first step were the best and were kept
    trained_parameters: int = 0  # of the network, of the helpers of methods none
    all_parameters: int = 0
    start_errors: list[float] = field(default_factory=list)  # of the validation rows, where the start must be beaten
    history: list[Json] = field(default_factory=list)


class Checkpoints:
    """The checkpoints of one stage, in its work folder. Only one of several processes `is_main`."""

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
            shutil.rmtree(old, ignore_errors=True)  # a leftover does no harm

    def load(self, modules: nn.ModuleDict, optimizer: torch.optim.Optimizer) -> tuple[TrainerState, dict[str, Tensor]]:
        """Loads the newest sound checkpoint into the modules and the optimizer; without one, returns a fresh state."""
        for folder in newest_first(self._all()):
            fault = fault_in_folder(folder) or self._mismatch(folder, modules)
            if fault is None:
                return self._fill(folder, modules, optimizer)
            info(f"{fault}; using the checkpoint before it")
            if self.is_main:
                shutil.rmtree(folder)  # else it would count towards KEEP_LAST
        return TrainerState(), {}

    def _mismatch(self, folder: Path, modules: nn.ModuleDict) -> str | None:
        """Why a sound checkpoint does not belong to this stage: it is another stage's, or the model has another shape."""
        stage = read_json(folder / "trainer_state.json").get("of", self.folder.name)
        with safe_open(folder / "weights.safetensors", framework="pt") as file:
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        own = {name: tuple(value.shape) for name, value in unique_tensors(modules).items()}
        return None if stage == self.folder.name and shapes == own else f"{folder}: is a checkpoint of another stage"

    def _fill(
        self, folder: Path, modules: nn.ModuleDict, optimizer: torch.optim.Optimizer
    ) -> tuple[TrainerState, dict[str, Tensor]]:
        modules.load_state_dict(with_tied_names(modules, load_file(folder / "weights.safetensors")))
        fill_optimizer(optimizer, load_file(folder / "optimizer.safetensors"))
        state = {key: value for key, value in read_json(folder / "trainer_state.json").items() if key != "of"}
        best = load_file(folder / "best.safetensors") if "best.safetensors" in committed_files(folder) else {}
        return TrainerState(**state), best

    def _all(self) -> list[Path]:
        return list(self.folder.glob("checkpoint-*"))


def flat_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer state as named tensors, without its settings."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value.contiguous() for number, entry in state.items() for name, value in entry.items()}


def fill_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
