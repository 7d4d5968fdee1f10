"""8-bit integer weights, and 8-bit activations at run time: a quarter of the bytes, integer products in the engine.

ONNX has no integer LSTM, so the engine unpacks LSTM matrices on loading: they save bytes, not time.

Paper: Zafrir et al. 2019, Q8BERT (arXiv 1910.06188); here after training, activations scaled at run time.
Cost: packing only.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Method, Requirements
from niwaki.models.edits.int8 import Int8 as Int8Edit
from niwaki.models.model import Model


class Int8(Method, Bakes):
    embeddings: bool = setting(True, "pack the token table too")

    version = 2
    requires = Requirements(reduces=("file", "memory", "time"))

    def finish(self, model: Model) -> Model:
        model.apply_edit(Int8Edit(embeddings=self.embeddings, small_weights=True))
        return model
