"""8-bit integer weights and activations; the ranges of the activations are measured beforehand on calibration batches.

As 'int8', but nothing is measured at run time: a prediction does not depend on the other texts of its batch, and torch rounds as the
engine does. Values beyond a range are clipped. It was no faster than 'int8' (MiniLM, ONNX Runtime: equal on one text, 7 % slower on
32). This happens before training: weights and ranges are then fixed, and a train block tunes the rest (norms, biases, head).

Paper: Jacob et al. 2018, Integer-Arithmetic-Only Inference (arXiv 1712.05877); after training.
Cost: the calibration batches forward once.
"""

import torch
from torch import Tensor, nn

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.quantize._rounding import record_inputs
from niwaki.models.edits.static import Static as StaticEdit
from niwaki.models.model import Model
from niwaki.models.packed.int8 import Int8Linear
from niwaki.models.packed.rounding import range_of


class Static(Method, Reshapes):
    embeddings: bool = setting(True, "pack the token table too")
    batches: int = setting(16, "calibration batches to measure the ranges", ge=1)
    coverage: float = setting(1.0, "fraction of a matrix's inputs that its range covers in every batch", gt=0.5, le=1)

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(StaticEdit(embeddings=self.embeddings, small_weights=True))
        return model

    @torch.no_grad()
    def prepare(self, model: Model, context: Context) -> Model:
        paths = [
            path
            for path in model.anatomy.matrices()
            if isinstance(model.network.get_submodule(path), nn.Linear | Int8Linear)
        ]
        ends: dict[str, list[tuple[Tensor, Tensor]]] = {path: [] for path in paths}
        record_inputs(
            model,
            paths,
            list(context.calibration(model, self.batches)),
            lambda path, x: ends[path].append(covering(x, self.coverage)),
        )
        ranges = {path: range_of(*widest(found)) for path, found in ends.items() if found}
        model.apply_edit(StaticEdit(embeddings=self.embeddings, small_weights=True).with_ranges(ranges))
        return model


def covering(x: Tensor, coverage: float) -> tuple[Tensor, Tensor]:
    """The bounds between which this fraction of the values lies; as many lie below as above."""
    flat = x.flatten()
    out = min(int((1 - coverage) / 2 * len(flat) + 1e-6), (len(flat) - 1) // 2)
    if not out:
        return flat.min(), flat.max()
    return flat.kthvalue(1 + out).values, flat.kthvalue(len(flat) - out).values


def widest(ends: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    lows, highs = zip(*ends, strict=True)
    return torch.stack(lows).min(), torch.stack(highs).max()
