"""PyTorch, in float32, without padding: for any model niwaki can load, also where no graph was written."""

from pathlib import Path

import numpy as np

from niwaki.data.ragged import Ragged
from niwaki.engines.runtime import Runtime


class Torch(Runtime):
    def __init__(self, folder: Path, threads: int) -> None:
        from niwaki.models.lean import Lean
        from niwaki.models.model import load_folder
        from niwaki.models.unpadded import Unpadded

        super().__init__(folder, threads)
        model = load_folder(folder)
        self.lean = Lean(model.network.eval(), model.anatomy)
        self.unpadded = Unpadded(model.network, model.anatomy) if model.anatomy.layers else None

    def run(self, ids: Ragged, types: Ragged, sequences: np.ndarray, pad_id: int, alone: bool = False) -> np.ndarray:
        if self.unpadded is None:
            return super().run(ids, types, sequences, pad_id, alone)
        filled, mask = ids.padded(sequences, pad_id)
        return self._asked(self.unpadded, filled, mask, types.padded(sequences)[0])

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        return self._asked(self.lean, ids, mask, types)

    def _asked(self, network, *given: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
        import torch

        with torch.inference_mode():
            return network(*(torch.from_numpy(array) for array in given)).float().numpy()
