"""Weights rounded to 4, 3 or 2 bits with a scale for each group of neighbours: no data, no training.

The scale of a group is the one with the least squared error. The codes are made when the stage ends and nothing recovers
afterwards: below 4 bits 'gptq', or 'qat' with training, lose less. An LSTM's matrices get 8 bits.

Paper: Dettmers and Zettlemoyer 2022, The case for 4-bit precision (arXiv 2212.09720); round to nearest in groups.
Cost: none but the packing.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Method, Requirements
from niwaki.methods.quantize._rounding import BASE, Bits
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import Model


class Rtn(Method, Bakes):
    bits: Bits = setting(4, "of a weight: 4 (16 levels), 3 (7 levels) or 2 (4 levels)")
    group: int = setting(64, "neighbours in a row that share a scale of 16 bits; 0 is the whole row", ge=0)
    embeddings: bool = setting(True, "pack the token table too")

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def finish(self, model: Model) -> Model:
        model.apply_edit(LowBit(base=BASE[self.bits], group=self.group, table=self.embeddings, small_weights=True))
        return model
