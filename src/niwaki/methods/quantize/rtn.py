"""Rounds weights to 4, 3 or 2 bits with a scale for each group of neighbours (round to nearest): no data, no training.

The scale of a group minimizes its squared error. Weights are rounded when the stage ends, and nothing compensates for the errors:
below 4 bits, 'gptq' or, with training, 'qat' lose less. LSTM matrices get 8 bits.

Paper: Dettmers and Zettlemoyer 2022, The case for 4-bit precision (arXiv 2212.09720); round to nearest in groups.
Cost: packing only.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Method, Requirements
from niwaki.methods.quantize._rounding import BASE, Bits
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import Model


class Rtn(Method, Bakes):
    bits: Bits = setting(4, "bits per weight: 4 (16 levels), 3 (7 levels) or 2 (4 levels)")
    group: int = setting(64, "neighbours in a row that share a 16-bit scale; 0 is the whole row", ge=0)
    embeddings: bool = setting(True, "pack the token table too")

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def finish(self, model: Model) -> Model:
        model.apply_edit(LowBit(base=BASE[self.bits], group=self.group, table=self.embeddings, small_weights=True))
        return model
