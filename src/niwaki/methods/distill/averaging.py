"""A student without attention: a weighted mean of token vectors taken from the teacher, and a few hidden layers.

Each token's weight is learned, and starts lower for frequent tokens. The mean ignores word order, so the mean of the products of
neighbouring tokens is concatenated to it. For two texts, the hidden layers read both means, their difference and their product.
For text-level tasks only.

Paper: Iyyer et al. 2015, Deep Unordered Composition Rivals Syntactic Methods for Text Classification (ACL 2015); initial
weights as in Arora, Liang, Ma 2017, A Simple but Tough-to-Beat Baseline for Sentence Embeddings (ICLR 2017).
Cost: the teacher reads every token of the vocabulary once; the tokenizer reads the stage's texts.
"""

import torch

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.distill._network import NetworkStudent
from niwaki.models.anatomy import Network
from niwaki.models.model import Model
from niwaki.models.networks.averaging import frequency_weights
from niwaki.tokenization.trimming import token_counts


class Averaging(NetworkStudent):
    neighbours: int = setting(
        2, "number of following tokens that each token is multiplied with; 0 ignores word order", ge=0, le=100
    )
    products: int = setting(32, "dimensions of these products, for each distance", ge=1, le=4096)
    layers: int = setting(1, "hidden layers between the mean and the logits", ge=1, le=20)

    def shape(self) -> Json:
        return {
            "model_type": "averaging",
            "num_hidden_layers": self.layers,
            "neighbours": self.neighbours,
            "num_products": self.products,
        }

    def config(self, model: Model, *sizes: int, **more: int) -> Json:
        if model.anatomy.per_token and not model.anatomy.is_seq2seq:
            raise InputError(
                "averaging: predicts for whole texts, and this task needs a prediction for each token; use 'bilstm' or 'cnn'"
            )
        return super().config(model, *sizes, **more)

    def begin(self, network: Network, model: Model, context: Context) -> None:
        found = token_counts(model.tokenizer.backend_tokenizer, context.texts())
        counts = torch.tensor([found.get(number, 0) for number in range(network.config.vocab_size)])
        network.body.embeddings.token_weights.weight.data.copy_(frequency_weights(counts)[:, None])
