"""Shared by the networks without attention: token vectors, a body that reads them, hidden layers, logits.

They are transformers models, so that training, saving and loading treat them like the others.
"""

from itertools import pairwise
from typing import Any, ClassVar

import torch
import transformers
from torch import Tensor, nn
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel

from niwaki.models.networks.callable import CallableNetwork
from niwaki.models.networks.texts import compared, texts_of, with_first_text

PAIR_COPIES, TOKEN_COPIES = 4, 3  # vectors that `compared` and `with_first_text` concatenate for two texts


class AttentionFreeConfig(PretrainedConfig):
    """The shape of the network (transformers makes it a dataclass). `config_rules` limits the values."""

    vocab_size: int = 100
    embedding_size: int = 32  # size of a token vector
    hidden_size: int = 32  # size of a hidden layer before the logits
    num_hidden_layers: int = 1
    niwaki_texts: int = 1  # 2 for pairs
    hidden_dropout_prob: float = 0.1
    max_position_embeddings: int = 512  # the maximum number of tokens; there is no position table
    pad_token_id: int | None = 0
    sep_token_id: int | None = None


class Body(nn.Module):
    """Maps token vectors to a state for each token, and to one vector for each text."""

    states: int  # size of a token's state
    pooled: int  # size of a text's vector

    def __init__(self, config: PretrainedConfig) -> None:
        super().__init__()
        self.embeddings: Any = nn.Module()
        self.embeddings.word_embeddings = nn.Embedding(config.vocab_size, config.embedding_size)

    def forward(self, vectors: Tensor, mask: Tensor) -> Tensor:
        """(batch, tokens, embedding) and (batch, tokens) to (batch, tokens, states)."""
        raise NotImplementedError

    def pool(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        """States, and (batch, texts, tokens) that assigns tokens to texts, to (batch, texts, pooled)."""
        raise NotImplementedError


class AttentionFreeModel(CallableNetwork, PreTrainedModel):
    """Base of the networks."""

    config_class = AttentionFreeConfig
    base_model_prefix = "body"
    _supports_sdpa = True  # transformers checks this on a GPU; there is no attention here
    body_class: ClassVar[type[Body]]

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.body = self.body_class(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.add_head()
        self.post_init()

    def add_head(self) -> None:
        """Hidden layers and the matrix that gives logits."""
        config: PretrainedConfig = self.config
        widths = [self.features(), *[config.hidden_size] * self.hidden_layers()]
        self.hidden = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))
        self.classifier = nn.Linear(widths[-1], config.num_labels or 0)

    def features(self) -> int:
        """Input size of the first hidden layer."""
        raise NotImplementedError

    def hidden_layers(self) -> int:
        return 1

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        """Input of the hidden layers: (batch, features), or (batch, tokens, features) for token-level heads."""
        raise NotImplementedError

    @property
    def state_sizes(self) -> list[int]:
        """Numbers of a token in each of `states`."""
        config: PretrainedConfig = self.config
        return [config.embedding_size, self.body.states]

    @property
    def depths(self) -> list[list[nn.Module]]:
        """Modules on top of each other, from the input up."""
        return []

    def remove_head(self) -> None:
        """Removes the hidden layers, before another head is put in."""
        del self.hidden[:]

    def logits(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.answer(self.states(ids, mask)[-1], ids, mask)

    def states(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The token vectors, with 0 for padding, and the body's states."""
        vectors = self.body.embeddings.word_embeddings(ids)
        vectors = self.dropout(vectors * mask[..., None].to(vectors.dtype))
        return vectors, self.body(vectors, mask)

    def answer(self, states: Tensor, ids: Tensor, mask: Tensor, predicted: Tensor | None = None) -> Tensor:
        """Logits of the last states. `predicted` (batch, tokens) names the tokens whose logits a language model computes."""
        texts = texts_of(ids, mask, self.config.sep_token_id, self.config.niwaki_texts)
        found = self.dropout(self.read(states, ids, texts))
        for layer in self.hidden:
            found = self.dropout(torch.relu(layer(found)))
        return self.classifier(found)

    @torch.no_grad()
    def _init_weights(self, module: object) -> None:
        """Initialize as torch does, not as BERT; transformers calls it for modules that were not loaded."""
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()


class ForTexts(AttentionFreeModel):
    """One prediction for a text or a pair of texts."""

    def features(self) -> int:
        return self.body.pooled * (1 if self.config.niwaki_texts == 1 else PAIR_COPIES)

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return compared(self.body.pool(states, ids, texts))


class ForTokens(AttentionFreeModel):
    """A prediction for every token."""

    def features(self) -> int:
        return self.body.states * (1 if self.config.niwaki_texts == 1 else TOKEN_COPIES)

    def read(self, states: Tensor, ids: Tensor, texts: Tensor) -> Tensor:
        return with_first_text(states, texts)


class ForSpans(ForTokens):
    """For every token, whether the answer starts and ends there."""


def register_networks(config: type[AttentionFreeConfig], *networks: type[AttentionFreeModel]) -> None:
    """Register the config and its networks with transformers' Auto classes."""
    AutoConfig.register(config.model_type, config, exist_ok=True)
    for network in networks:
        head = network.__name__.rpartition("For")[2]
        auto_class = "AutoModel" if head == "FeatureExtraction" else f"AutoModelFor{head}"
        getattr(transformers, auto_class).register(config, network, exist_ok=True)
