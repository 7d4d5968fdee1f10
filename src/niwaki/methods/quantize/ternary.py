"""Weights of three values, -s, 0 and s, trained through the rounding: 1.6 bits each on disk.

Weights that are small relative to the mean of their group become 0, the others get one magnitude. The forward pass uses the three
values, the gradient updates the floats behind them. Meant for a stage with a teacher ('tinybert' or 'logits'). Activations stay float
during training and have 8 bits in the engine; LSTM matrices get 8 bits when the stage ends.

Paper: Zhang et al. 2020, TernaryBERT (arXiv 2009.12812), with the thresholds of Li et al. 2016 (arXiv 1605.04711).
Cost: training; a step of 32 short texts takes 1.4 times as long as in float (MiniLM, one core).
"""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods.quantize._rounding import Rounding, TrainedRounding, counts
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.packed.low_bit import as_float16, grouped
from niwaki.models.packed.rounding import straight

THRESHOLD = 0.7  # times the mean magnitude: near optimal for uniform and normal weights (Li et al. 2016)


class Ternary(TrainedRounding):
    group: int = setting(0, "neighbours in a row that share a 16-bit scale; 0 is the whole row", ge=0)

    def rounding(self, weight: Tensor) -> "TernaryRounding":
        return TernaryRounding(weight, base=3, group=self.group)

    def edit(self) -> LowBit:
        return LowBit(base=3, group=self.group, table=self.embeddings, small_weights=True)


class TernaryRounding(Rounding):
    def scale(self, weight: Tensor) -> Tensor:
        return as_float16(ternarize(weight, self.group)[1])

    def forward(self, weight: Tensor) -> Tensor:
        signs, size = ternarize(weight.detach(), self.group)
        return straight(weight, (signs * as_float16(size)[..., None]).flatten(1)[:, : weight.shape[1]])


def ternarize(weight: Tensor, group: int) -> tuple[Tensor, Tensor]:
    """(rows, columns) to signs or 0 (rows, groups, group), and the mean magnitude of those that are not 0 (rows, groups), which
    minimizes the squared error for these signs."""
    parts = grouped(weight, group)
    mean = parts.abs().sum(dim=-1) / counts(weight, group)
    signs = parts.sign() * (parts.abs() > THRESHOLD * mean[..., None])
    return signs, (parts * signs).sum(dim=-1) / signs.abs().sum(dim=-1).clamp(min=1)
