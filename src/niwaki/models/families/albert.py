"""ALBERT (Lan et al. 2020): one layer run many times, behind a narrow embedding."""

from torch import Tensor

from niwaki.models.anatomy import Anatomy
from niwaki.models.layer import Layer


class Albert(Anatomy):
    body = "albert"
    attention_module = "attention"
    query = "attention.query"
    key = "attention.key"
    value = "attention.value"
    out = "attention.dense"
    attention_norm = "attention.LayerNorm"
    ffn_in = "ffn"
    activation = "activation"
    ffn_out = "ffn_output"
    ffn_norm = "full_layer_layer_norm"
    attention_dropout = "attention.attention_dropout"
    out_dropout = "attention.output_dropout"
    projection = "encoder.embedding_hidden_mapping_in"
    pooled_square = ("albert.pooler",)

    @property
    def layers(self) -> list[Layer]:
        groups = self.trunk.encoder.albert_layer_groups
        return [Layer(module, self) for group in groups for module in group.albert_layers]

    @property
    def order(self) -> list[int]:
        config = self.network.config
        per_group = config.num_hidden_layers / config.num_hidden_groups
        inner = int(config.inner_group_num)
        depth = int(config.num_hidden_layers)
        return [int(step / per_group) * inner + k for step in range(depth) for k in range(inner)]

    def classify(self, hidden: Tensor) -> Tensor:
        trunk, network = self.trunk, self.network
        return network.classifier(network.dropout(trunk.pooler_activation(trunk.pooler(hidden[:, 0]))))
