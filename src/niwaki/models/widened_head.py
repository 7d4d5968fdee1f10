"""MobileBERT's masked-LM head (Sun et al. 2020): the token table is narrower than hidden states, so a second matrix reads the rest."""

from torch import Tensor
from transformers.models.mobilebert.modeling_mobilebert import MobileBertLMPredictionHead

from niwaki.models.family import Network


class WidenedHead(MobileBertLMPredictionHead):
    """transformers' own reads the table's weight; this one calls the matrix, in whatever form the table is stored."""

    def forward(self, hidden: Tensor) -> Tensor:
        return self.scores(self.transform(hidden))

    def scores(self, rows: Tensor) -> Tensor:
        """(…, hidden) to (…, vocabulary)"""
        narrow = rows.shape[-1] - self.dense.weight.shape[0]
        return self.decoder(rows[..., :narrow]) + rows[..., narrow:] @ self.dense.weight


def widen_head(network: Network) -> None:
    for module in network.modules():
        if type(module) is MobileBertLMPredictionHead:
            module.__class__ = WidenedHead
