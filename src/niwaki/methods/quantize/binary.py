"""Weights of two values, -s and s, trained through the signs: 1 bit each on disk.

The forward pass uses the signs times the mean magnitude of the group, the gradient updates the floats behind them. Meant for a stage
with a teacher ('tinybert' or 'logits'), with more steps than 'ternary' needs. Activations stay float during training and have 8 bits
in the engine; LSTM matrices get 8 bits when the stage ends.

Paper: Wu et al. 2022, Extreme Compression Made Simple (arXiv 2206.01859); Bai et al. 2021, BinaryBERT (arXiv 2012.15701).
Cost: training, with many steps; a step of 32 short texts takes 1.5 times as long as in float (MiniLM, one core).
"""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods.quantize._rounding import Rounding, TrainedRounding, counts
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.packed.low_bit import as_float16, grouped


class Binary(TrainedRounding):
    group: int = setting(0, "neighbours in a row that share a 16-bit scale; 0 is the whole row", ge=0)

    def rounding(self, weight: Tensor) -> "BinaryRounding":
        return BinaryRounding(weight, base=2, group=self.group)

    def edit(self) -> LowBit:
        return LowBit(base=2, group=self.group, table=self.embeddings, small_weights=True)


class BinaryRounding(Rounding):
    def scale(self, weight: Tensor) -> Tensor:
        """The distance between the levels: twice the mean magnitude, which minimizes the squared error."""
        return as_float16(2 * grouped(weight, self.group).abs().sum(dim=-1) / counts(weight, self.group))
