"""PyTorch, in float32, without padding: for any model niwaki can load, also where no graph was written."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from niwaki.engines.exits import NOTHING, Padded, stretches
from niwaki.engines.runtime import Runtime
from niwaki.engines.writing import search_of


class Torch(Runtime):
    leaves: ClassVar[bool] = True
    writes: ClassVar[bool] = True

    def __init__(self, folder: Path, threads: int) -> None:
        from niwaki.models.lean import Lean
        from niwaki.models.model import load_folder

        super().__init__(folder, threads)
        model = load_folder(folder)
        self.lean = Lean(model.network.eval(), model.anatomy)
        self.search = search_of(folder) if model.anatomy.writes else None
        self.reads_types = model.anatomy.uses_types

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        if self.search is not None:
            import torch

            from niwaki.models.writing import written

            with torch.inference_mode():
                given = [torch.from_numpy(array) for array in (ids, mask, types)]
                return written(self.lean.anatomy, given[0], given[1], given[2], self.search)
        return self._asked(self._packed, ids, mask, types)

    def _packed(self, ids: Any, mask: Any, types: Any) -> Any:
        """Computes on real tokens only."""
        given = {"input_ids": ids, "attention_mask": mask}
        return self.lean.anatomy.run(given | ({"token_type_ids": types} if self.reads_types else {}), {})

    def stretch(
        self, waiting: Padded, number: int, exits: list[int], alone: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        from niwaki.models.lean import Stretch

        anatomy = self.lean.anatomy
        part = Stretch(self.lean.network, anatomy, *stretches(exits, len(anatomy.order))[number], begins=number == 0)
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
