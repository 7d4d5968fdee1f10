"""Weights of two values, -s and s, found by training through the signs: 1 bit each on disk.

The products see the signs times the mean size of their group, the gradient moves the floats behind them. Meant for a stage
with a teacher, 'tinybert' or 'logits' beside it, and for more steps than three values take. Activations stay float while
training and have 8 bits in the engine; an LSTM's matrices get 8 bits when the stage ends.

Paper: Wu et al. 2022, Extreme Compression Made Simple (arXiv 2206.01859); Bai et al. 2021, BinaryBERT (arXiv 2012.15701).
Cost: training, of many steps; one of 32 short texts takes 1.5 times as long as in float (MiniLM, one core).
"""

from torch import Tensor

from niwaki.core.settings import setting
from niwaki.methods.quantize._rounding import Rounding, TrainedRounding, counts
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.packed.low_bit import grouped, kept


class Binary(TrainedRounding):
    group: int = setting(0, "neighbours in a row that share a size of 16 bits; 0 is the whole row", ge=0)

    def lens(self, weight: Tensor) -> "BinaryRounding":
        return BinaryRounding(weight, base=2, group=self.group)

    def edit(self) -> LowBit:
        return LowBit(base=2, group=self.group, table=self.embeddings, small_weights=True)


class BinaryRounding(Rounding):
    def scale(self, weight: Tensor) -> Tensor:
        """From one level to the other: twice the mean size, which has the least squared error."""
        return kept(2 * grouped(weight, self.group).abs().sum(dim=-1) / counts(weight, self.group))
