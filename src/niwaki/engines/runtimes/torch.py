"""PyTorch, in float32: for any model niwaki can load, also where no graph was written."""

from pathlib import Path

import numpy as np

from niwaki.engines.exits import Padded, stretches
from niwaki.engines.runtime import Runtime


class Torch(Runtime):
    def __init__(self, folder: Path, threads: int) -> None:
        from niwaki.models.lean import Lean
        from niwaki.models.model import load_folder

        super().__init__(folder, threads)
        model = load_folder(folder)
        self.lean = Lean(model.network.eval(), model.anatomy)

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        import torch

        with torch.inference_mode():
            return self.lean(*(torch.from_numpy(array) for array in (ids, mask, types))).numpy()

    def stretch(self, waiting: Padded, number: int, exits: list[int]) -> tuple[np.ndarray, np.ndarray | None]:
        import torch

        from niwaki.models.lean import Stretch

        network, anatomy = self.lean.network, self.lean.anatomy
        part = Stretch(network, anatomy, *stretches(exits, len(anatomy.order))[number], begins=number == 0)
        with torch.inference_mode():
            found = part(*(torch.from_numpy(array) for array in (waiting.start, waiting.mask, waiting.types)))
        return (found[0].numpy(), found[1].numpy()) if isinstance(found, tuple) else (found.numpy(), None)
