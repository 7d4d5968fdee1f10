"""PyTorch in float32, without padding: runs any model that niwaki can load, also without an exported graph."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from niwaki.answers._forced_decoding import LABELS
from niwaki.engines.exits import NO_HIDDEN_STATES, ActiveBatch, PaddedBatch, layer_ranges
from niwaki.engines.generation import search_of
from niwaki.engines.runtime import Arrays, EarlyExitRuntime

if TYPE_CHECKING:
    from torch import Tensor

    from niwaki.models.head import Head


class Torch(EarlyExitRuntime):
    preference: ClassVar[int | None] = 4
    package: ClassVar[str] = "torch"
    is_timed: ClassVar[bool] = False  # it takes seconds to import
    supports_seq2seq: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int, head: "Head | None" = None) -> None:
        """`head` asks for another head than the one that the folder's config names."""
        from niwaki.models.model import load_folder
        from niwaki.models.pairs import reads_token_types

        super().__init__(folder, threads)
        model = load_folder(folder, head)
        self.network, self.anatomy = model.network.eval(), model.anatomy
        self.search = search_of(folder) if self.anatomy.is_seq2seq else None
        self.generates = self.search is not None
        self.inputs = tuple(name for name in self.anatomy.inputs.example(1, 1))
        if not reads_token_types(self.anatomy):
            self.inputs = tuple(name for name in self.inputs if name != "token_type_ids")

    def logits(self, arrays: Arrays) -> np.ndarray:
        (logits,) = self._call(self._generate if self.search is not None else self._forward, arrays)
        return logits

    def run_layers(
        self, batch: ActiveBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        from niwaki.models.forward import run_layer_range

        assert isinstance(batch, PaddedBatch)
        first, last = layer_ranges(exits, len(self.anatomy.order))[number]

        def run(inputs: "dict[str, Tensor]") -> "tuple[Tensor, ...]":
            found = run_layer_range(self.anatomy, inputs, first, last)
            return found if isinstance(found, tuple) else (found,)

        found = self._call(run, batch.arrays)
        return found[0], found[1] if len(found) > 1 else NO_HIDDEN_STATES

    def _forward(self, inputs: "dict[str, Tensor]") -> "tuple[Tensor, ...]":
        """Computes on real tokens only."""
        from niwaki.models.forward import run

        return (run(self.anatomy, inputs, {}),)

    def _generate(self, inputs: "dict[str, Tensor]") -> "tuple[Tensor, ...]":
        import torch

        from niwaki.models.generation import generate

        assert self.search is not None
        return (torch.from_numpy(generate(self.anatomy, inputs, self.search)),)

    def _call(
        self, function: "Callable[[dict[str, Tensor]], tuple[Tensor, ...]]", arrays: Arrays
    ) -> tuple[np.ndarray, ...]:
        """Calls a function of tensors with arrays; floats are converted to the precision of the network and back."""
        import torch

        names = {*self.inputs, "hidden_states", *([LABELS] if self.generates else [])}
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items() if name in names}
        dtype = next(self.network.parameters()).dtype
        with torch.inference_mode():
            found = function({name: x.to(dtype) if x.is_floating_point() else x for name, x in tensors.items()})
        return tuple(x.float().numpy() for x in found)
