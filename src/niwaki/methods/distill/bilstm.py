"""A student without attention: bidirectional LSTM layers over token vectors taken from the teacher.

The maximum and the mean of the LSTM's states over each text go through a hidden layer to the logits; tags and spans are predicted
from the state of each token. `int8` packs the LSTM's matrices, but the engine unpacks them on loading: it saves bytes, not time.

Paper: Tang et al. 2019, Distilling Task-Specific Knowledge from BERT into Simple Neural Networks (arXiv 1903.12136).
Cost: the teacher reads every token of the vocabulary once.
"""

from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods.distill._network import NetworkStudent


class BiLstm(NetworkStudent):
    layers: int = setting(1, "stacked LSTM layers", ge=1, le=20)
    units: int = setting(128, "units per direction of a layer", ge=1, le=8192)

    def shape(self) -> Json:
        return {"model_type": "bilstm", "num_hidden_layers": self.layers, "lstm_units": self.units}
