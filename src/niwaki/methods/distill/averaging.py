"""A student that is no transformer: the weighted mean of vectors taken from the teacher, and a few hidden layers.

The weight of each piece is learnt, and begins lower the more often the stage's texts use it. Beside that mean, which knows no
order, stands that of the products of neighbouring pieces. Of two texts both means, their distance and their product are seen.
For whole texts only.

Paper: Iyyer et al. 2015, Deep Unordered Composition Rivals Syntactic Methods for Text Classification (ACL 2015); first
weights as in Arora, Liang, Ma 2017, A Simple but Tough-to-Beat Baseline for Sentence Embeddings (ICLR 2017).
Cost: the teacher reads every piece of the vocabulary once; the tokenizer reads the stage's texts.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._method import Context
from niwaki.methods.distill._network import NetworkStudent
from niwaki.models.anatomy import Network
from niwaki.models.model import Model
from niwaki.tokenization.trimming import token_counts

FREQUENT = 1e-3  # the share of all pieces at which one weighs half as much as a rare one


class Averaging(NetworkStudent):
    neighbours: int = setting(
        2, "how many of the next tokens each is multiplied with, as its mean knows no order; 0 takes none", ge=0, le=100
    )
    products: int = setting(32, "columns of these products, for each distance", ge=1, le=4096)
    layers: int = setting(1, "hidden layers between the mean and the logits", ge=1, le=20)

    def shape(self) -> dict[str, Any]:
        return {
            "model_type": "averaging",
            "num_hidden_layers": self.layers,
            "neighbours": self.neighbours,
            "num_products": self.products,
        }

    def config(self, model: Model, *sizes: Any, **more: Any) -> dict[str, Any]:
        if model.anatomy.per_token and not model.anatomy.is_seq2seq:
            raise InputError(
                "averaging: answers for whole texts, and this task asks for each token; use 'bilstm' or 'cnn'"
            )
        return super().config(model, *sizes, **more)

    def begin(self, network: Network, model: Model, context: Context) -> None:
        counts = token_counts(model.tokenizer.backend_tokenizer, context.texts())
        network.body.embeddings.token_weights.weight.data.copy_(
            first_weights(counts, network.config.vocab_size)[:, None]
        )


def first_weights(counts: Mapping[int, int], pieces: int) -> Tensor:
    """Logarithms of a / (a + share) for each piece, where a is FREQUENT; what the texts do not use weighs like the rarest."""
    shares = torch.tensor([counts.get(number, 0) for number in range(pieces)], dtype=torch.float64)
    shares = shares / max(1, sum(counts.values()))
    return (FREQUENT / (FREQUENT + shares)).log().float()
