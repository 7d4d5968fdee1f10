"""Convolutions of several widths over token vectors (Kim 2014)."""

from niwaki.models.block import Block
from niwaki.models.families._attention_free import AttentionFreeAnatomy
from niwaki.models.networks import cnn
from niwaki.models.networks.attention_free import register_networks


class Cnn(AttentionFreeAnatomy):
    body_matrices = "convolutions"

    @classmethod
    def register_networks(cls) -> None:
        register_networks(
            cnn.CnnConfig, cnn.CnnForSequenceClassification, cnn.CnnForTokenClassification, cnn.CnnForQuestionAnswering
        )

    @property
    def blocks(self) -> list[Block]:
        """The filters of each width, then the hidden layer that reads them all."""
        counts = [convolution.out_features for convolution in self.trunk.convolutions]
        copies = self.network.hidden[0].in_features // sum(counts)
        filters = [
            Block(self.network, f"body.convolutions.{number}", "hidden.0", sum(counts[:number]), copies)
            for number in range(len(counts))
        ]
        return [*filters, *super().blocks]

    def update_config_ffn_size(self) -> None:
        super().update_config_ffn_size()
        counts = {convolution.out_features for convolution in self.trunk.convolutions}
        if len(counts) == 1:
            self.network.config.num_filters = counts.pop()
