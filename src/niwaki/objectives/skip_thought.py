"""Skip-thoughts: the embedding of a sentence lets two decoders generate the sentences before and behind it.

Each decoder is a GRU that reads the embedding along with every token, which is the paper's conditional GRU. The decoders share the encoder's
token table and are not saved.

Paper: Kiros et al. 2015, Skip-Thought Vectors (arXiv 1506.06726).
Cost: two decoders with logits of the whole vocabulary, several times that of `quick_thought`.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from niwaki.core.seeds import derive
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch, Outputs
from niwaki.models.model import Model
from niwaki.models.saved_files import config_of
from niwaki.models.sentence_modules import embedding_size
from niwaki.models.tables import TiedEmbedding, TiedHead
from niwaki.objectives._sentences import Neighbours, NeighbourSettings, distances

SIDES = {"before": -1, "behind": 1}


class SkipThoughtSettings(NeighbourSettings):
    decoder_size: int = setting(256, "units of each decoder", ge=1, le=65_536)
    max_generated: int = setting(32, "tokens of a neighbour that are generated, at most", ge=1, le=100_000)


class SkipThought(Neighbours):
    settings: ClassVar[type[Settings]] = SkipThoughtSettings

    @property
    def _settings(self) -> SkipThoughtSettings:
        assert isinstance(self.chosen, SkipThoughtSettings)
        return self.chosen

    def prepare(self, model: Model, seed: int = 0) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(derive(seed, "decoders"))
            self.helpers = nn.ModuleDict({side: Decoder(model, self._settings.decoder_size) for side in SIDES})

    def loss(self, outputs: Outputs, batch: Batch) -> Tensor:
        """Mean over the generated tokens of both sides."""
        assert isinstance(self.helpers, nn.ModuleDict)
        apart, limit = distances(batch), self._settings.max_generated + 1
        ids, mask = batch.inputs["input_ids"][:, :limit], batch.mask[:, :limit]
        total, count = outputs.logits.float().sum() * 0, 0
        for side, distance in SIDES.items():
            read, generated = (apart == distance).nonzero(as_tuple=True)
            real = mask[generated, 1:].bool()
            if real.any():
                logits = self.helpers[side](outputs.logits[read], ids[generated, :-1], real)
                total = total + functional.cross_entropy(logits.float(), ids[generated, 1:][real], reduction="sum")
                count += int(real.sum())
        return total / max(1, count)


class Decoder(nn.Module):
    """Embeddings of sentences and the tokens generated so far to logits of the next ones."""

    def __init__(self, model: Model, size: int) -> None:
        super().__init__()
        owner, _, name = model.anatomy.inputs.token_table.rpartition(".")
        table, width = model.network.get_submodule(owner), model.anatomy.tokens.embedding_dim
        self.tokens, self.table = TiedEmbedding(table, name), TiedHead(table, name)
        self.gru = nn.GRU(width + embedding_size(config_of(model.network)), size, batch_first=True)
        self.out = nn.Linear(size, width)

    def forward(self, embeddings: Tensor, ids: Tensor, wanted: Tensor) -> Tensor:
        """(sentences, dim), tokens (sentences, tokens) and the mask of the places whose logits are computed, to (places, vocabulary)."""
        vectors = self.tokens(ids)
        condition = embeddings[:, None].to(vectors.dtype).expand(-1, ids.shape[1], -1)
        states, _ = self.gru(torch.cat([vectors, condition], dim=-1))
        return self.table(self.out(states[wanted]))
