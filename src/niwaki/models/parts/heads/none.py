"""No task head: sentence embeddings, pooled as the checkpoint says, with its dense layer and normalization."""

from torch import Tensor

from niwaki.models.parts.heads._head import ACTIVATIONS, TaskHead
from niwaki.models.pooling import normalized
from niwaki.models.sentence_modules import Pooling, pooling_of_network


class NoHead(TaskHead):
    no_native = "it has two outputs, and the engine gives one"
    architecture = "FeatureExtraction"
    auto_class = "AutoModel"
    outputs = ("sentence_embedding", "last_hidden_state")

    @property
    def published(self) -> Pooling:
        return pooling_of_network(self.network)

    @property
    def pooling(self) -> str:
        return self.published.mode

    @property
    def unit_length(self) -> bool:
        return self.published.normalize

    @property
    def final(self) -> str:
        return "" if self.network.dense is None else "dense"

    def forward(self, hidden: Tensor) -> Tensor:
        rows, pooling = hidden[:, 0], self.published
        if self.network.dense is not None:
            rows = self.network.dense(rows)
            rows = rows if pooling.activation == "none" else ACTIVATIONS[pooling.activation](rows)
        return normalized(rows) if pooling.normalize else rows
