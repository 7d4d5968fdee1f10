"""PyTorch, in float32, without padding: for any model niwaki can load, also where no graph was written."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.engines.exits import NOTHING, PaddedBatch, layer_ranges
from niwaki.engines.generation import search_of
from niwaki.engines.runtime import Runtime


class Torch(Runtime):
    supports_early_exit: ClassVar[bool] = True
    supports_seq2seq: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int) -> None:
        from niwaki.models.export_modules import ForwardModule
        from niwaki.models.model import load_folder

        super().__init__(folder, threads)
        model = load_folder(folder)
        self.lean = ForwardModule(model.network.eval(), model.anatomy)
        self.search = search_of(folder) if model.anatomy.is_seq2seq else None
        self.reads_types = model.anatomy.uses_token_types

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        if self.search is not None:
            import torch

            from niwaki.models.generation import written

            with torch.inference_mode():
                given = [torch.from_numpy(array) for array in (ids, mask, types)]
                return written(self.lean.anatomy, given[0], given[1], given[2], self.search)
        return self._asked(self._packed, ids, mask, types)

    def _packed(self, ids: Any, mask: Any, types: Any) -> Any:
        """Computes on real tokens only."""
        given = {"input_ids": ids, "attention_mask": mask}
        return self.lean.anatomy.run(given | ({"token_type_ids": types} if self.reads_types else {}), {})

    def run_layers(
        self, waiting: PaddedBatch, number: int, exits: list[int], use_all_threads: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        from niwaki.models.export_modules import LayerRangeModule

        anatomy = self.lean.anatomy
        part = LayerRangeModule(
            self.lean.network, anatomy, *layer_ranges(exits, len(anatomy.order))[number], begins=number == 0
        )
        found = self._asked(part, waiting.start, waiting.mask, waiting.types)
        return found if isinstance(found, tuple) else (found, NOTHING)

    def _asked(self, network: Any, *given: np.ndarray) -> Any:
        """Arrays to what comes out, one array or several; floats in the network's own precision."""
        import torch

        tensors = [torch.from_numpy(array) for array in given]
        kind = next(self.lean.network.parameters()).dtype
        with torch.inference_mode():
            found = network(*(one.to(kind) if one.is_floating_point() else one for one in tensors))
        return tuple(one.float().numpy() for one in found) if isinstance(found, tuple) else found.float().numpy()
