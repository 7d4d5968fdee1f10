"""What the networks without attention share: token vectors, a body that reads them, hidden layers, logits.

They are transformers models, so that the loop, saving and loading treat them like the rest.
"""

from itertools import pairwise
from typing import Any, ClassVar

import torch
import transformers
from torch import Tensor, nn
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel

from niwaki.models.networks.callable import CallableNetwork
from niwaki.models.networks.texts import beside_first, compared, texts_of

PAIR_COPIES, TOKEN_COPIES = 4, 3  # of what `compared` and `beside_first` put beside each other for two texts


class AttentionFreeConfig(PretrainedConfig):
    """The shape of a reader (transformers makes a dataclass of it). Limits are in `config_rules`."""

    vocab_size: int = 100
    embedding_size: int = 32  # width of a token's vector
    hidden_size: int = 32  # neurons of a hidden layer before the logits
    num_hidden_layers: int = 1
    niwaki_texts: int = 1  # 2 for pairs
    hidden_dropout_prob: float = 0.1
    max_position_embeddings: int = 512  # the longest text; nothing is stored for a position
    pad_token_id: int | None = 0
    sep_token_id: int | None = None


class Body(nn.Module):
    """From token vectors to a state for each token, and to one vector for a text."""

    states: int  # width of a token's state
    pooled: int  # width of a text's vector

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.embeddings: Any = nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(config.vocab_size, config.embedding_size)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(batch, tokens, embedding) and (batch, tokens) to (batch, tokens, states)."""
        raise NotImplementedError

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        """States, and (batch, texts, tokens) of whose they are, to (batch, texts, pooled)."""
        raise NotImplementedError


class AttentionFreeModel(CallableNetwork, PreTrainedModel):
    """Base of the networks."""

    config_class = AttentionFreeConfig
    base_model_prefix = "body"
    _supports_sdpa = True  # asked of every network where there is a GPU; here nothing attends
    body_class: ClassVar[type[Body]]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.body = self.body_class(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        widths = [self.features(), *[config.hidden_size] * self.hidden_layers()]
        self.hidden = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))
        self.classifier = nn.Linear(widths[-1], config.num_labels)
        self.post_init()

    def features(self) -> int:
        """Numbers that the first hidden layer reads."""
        raise NotImplementedError

    def hidden_layers(self) -> int:
        return 1

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        """What the hidden layers are shown: (batch, features), or (batch, tokens, features) from heads per token."""
        raise NotImplementedError

    def logits(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.answer(self.states(ids, mask)[-1], ids, mask)

    def states(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The vectors of the tokens, and what the body made of them; padding is 0 in the former."""
        vectors = self.body.embeddings.word_embeddings(ids)
        vectors = self.dropout(vectors * mask[..., None].to(vectors.dtype))
        return vectors, self.body(vectors, mask)

    def answer(self, states: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        texts = texts_of(ids, mask, self.config.sep_token_id, self.config.niwaki_texts)
        found = self.dropout(self.read(states, ids, texts))
        for layer in self.hidden:
            found = self.dropout(torch.relu(layer(found)))
        return self.classifier(found)

    @torch.no_grad()
    def _init_weights(self, module: Any) -> None:
        """As torch does, not as BERT; transformers calls it and spares what was loaded."""
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()


class ForTexts(AttentionFreeModel):
    """One answer for a text, or for a pair of them."""

    def features(self) -> int:
        return self.body.pooled * (1 if self.config.niwaki_texts == 1 else PAIR_COPIES)

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return compared(self.body.pool(states, ids, texts))


class ForTokens(AttentionFreeModel):
    """An answer for every token."""

    def features(self) -> int:
        return self.body.states * (1 if self.config.niwaki_texts == 1 else TOKEN_COPIES)

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return beside_first(states, texts)


class ForSpans(ForTokens):
    """Of every token, whether the answer begins and ends there."""


def register_networks(config: type[AttentionFreeConfig], *networks: type[AttentionFreeModel]) -> None:
    """Makes transformers' classes that choose a network by its config know these."""
    AutoConfig.register(config.model_type, config, exist_ok=True)
    for network in networks:
        head = network.__name__.rpartition("For")[2]
        getattr(transformers, f"AutoModelFor{head}").register(config, network, exist_ok=True)
