"""A student that is no transformer: bidirectional LSTM layers over vectors taken from the teacher.

Texts are read one behind the other; the largest value and the mean of each state in each text go through a hidden layer
to the logits, tokens of tags and spans one by one. Packed in 8 bits (`int8`), the LSTM's matrices are unpacked when the
engine loads them: they save bytes, not time.

Paper: Tang et al. 2019, Distilling Task-Specific Knowledge from BERT into Simple Neural Networks (arXiv 1903.12136).
Cost: the teacher reads every piece of the vocabulary once.
"""

from typing import Any

from niwaki.core.settings import setting
from niwaki.methods.distill._network import NetworkStudent


class BiLstm(NetworkStudent):
    layers: int = setting(1, "LSTM layers, one above the other", ge=1, le=20)
    units: int = setting(128, "of each direction of a layer", ge=1, le=8192)

    def shape(self) -> dict[str, Any]:
        return {"model_type": "bilstm", "num_hidden_layers": self.layers, "lstm_units": self.units}
