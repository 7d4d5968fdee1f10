"""Convolutions of several widths over token vectors (Kim 2014)."""

from typing import TYPE_CHECKING

from niwaki.models.families._attention_free import AttentionFree
from niwaki.models.family import Network

if TYPE_CHECKING:
    from niwaki.models.block import Block


class Cnn(AttentionFree):
    body_matrices = "convolutions"

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import cnn
        from niwaki.models.networks.attention_free import register_networks

        register_networks(
            cnn.CnnConfig, cnn.CnnForSequenceClassification, cnn.CnnForTokenClassification, cnn.CnnForQuestionAnswering
        )

    @classmethod
    def blocks(cls, network: Network) -> "list[Block]":
        """The filters of each width, then the hidden layer that reads them all."""
        from niwaki.models.block import Block

        counts = [convolution.out_features for convolution in network.body.convolutions]
        copies = network.hidden[0].in_features // sum(counts)
        filters = [
            Block(network, f"body.convolutions.{number}", "hidden.0", sum(counts[:number]), copies, "num_filters")
            for number in range(len(counts))
        ]
        return [*filters, *super().blocks(network)]
