"""Span boundary objective: masked spans, each token of which is predicted a second time from the two tokens around its span.

The second prediction reads the last hidden states of the boundary tokens and a vector for the place within the span, so the network
stores what a span says at its ends. Spans that touch count as one. The saved model is a masked language model.

Paper: Joshi et al. 2020, SpanBERT (arXiv 1907.10529).
Cost: a second product with the token table for the masked tokens.
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.record import FINAL
from niwaki.models.tables import TiedHead
from niwaki.objectives._masking import MaskingSettings
from niwaki.objectives._token_prediction import predicted_tokens
from niwaki.objectives.masked_lm import MaskedLanguageModeling

PLACES = 64  # vectors for places within a span; later places share the last one


class SpanBoundarySettings(MaskingSettings):
    unit: Literal["token", "word", "span"] = setting("span", "what is masked as a whole; spans consist of whole words")
    weight: float = setting(1.0, "weight of the prediction from the boundary next to masked language modeling", gt=0)
    place_size: int = setting(200, "size of the vectors for places within a span", ge=1, le=10_000)


class SpanBoundary(MaskedLanguageModeling):
    settings: ClassVar[type[Settings]] = SpanBoundarySettings
    activations: ClassVar[frozenset[str]] = frozenset({FINAL})

    @property
    def _settings(self) -> SpanBoundarySettings:
        assert isinstance(self.chosen, SpanBoundarySettings)
        return self.chosen

    def prepare(self, model: Model, seed: int = 0) -> None:
        super().prepare(model, seed)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "span boundary"))
            self.helpers = BoundaryHead(model, self._settings.place_size)

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        assert self.helpers is not None and batch.predicted is not None
        row, left, right, place = boundaries(batch.predicted)
        hidden = outputs.final[0]
        logits = self.helpers(hidden[row, left], hidden[row, right], place).float()
        again = functional.cross_entropy(logits, predicted_tokens(batch), reduction="sum") / max(1, len(row))
        return self.token_loss(outputs, batch) + self._settings.weight * again


class BoundaryHead(nn.Module):
    """Two layers on both boundary tokens and a place, then the network's token table as a matrix."""

    def __init__(self, model: Model, place_size: int) -> None:
        super().__init__()
        owner, _, name = model.anatomy.inputs.token_table.rpartition(".")
        hidden_size, table = model.anatomy.hidden_size, model.anatomy.tokens
        size = table.embedding_dim
        self.places = nn.Embedding(PLACES, place_size)
        nn.init.normal_(self.places.weight, std=0.02)
        self.layers = nn.Sequential(
            *(nn.Linear(2 * hidden_size + place_size, hidden_size), nn.GELU(), nn.LayerNorm(hidden_size)),
            *(nn.Linear(hidden_size, size), nn.GELU(), nn.LayerNorm(size)),
        )
        self.table = TiedHead(model.network.get_submodule(owner), name)
        self.bias = nn.Parameter(torch.zeros(table.num_embeddings))

    def forward(self, left: Tensor, right: Tensor, place: Tensor) -> Tensor:
        """Hidden states of boundary tokens (tokens, hidden) and places (tokens,) to (tokens, vocabulary)."""
        vectors = self.places(place.clamp(max=PLACES - 1)).to(left.dtype)
        return self.table(self.layers(torch.cat([left, right, vectors], dim=-1))) + self.bias


def boundaries(predicted: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """For each predicted token (batch, tokens): its row, the places of the tokens before and after its span, and its place in the
    span, from 0. At the edge of a sequence the span's own token takes the place of a missing one."""
    tokens = predicted.shape[1]
    places = torch.arange(tokens, device=predicted.device).expand_as(predicted)
    left = places.masked_fill(predicted, -1).cummax(dim=1).values
    right = places.masked_fill(predicted, tokens).flip(1).cummin(dim=1).values.flip(1)
    row, place = predicted.nonzero(as_tuple=True)
    before, after = left[row, place], right[row, place]
    return row, before.clamp(min=0), after.clamp(max=tokens - 1), place - before - 1
