"""No task head: sentence embeddings, pooled as the checkpoint says, with its dense layer and normalization."""

from torch import Tensor

from niwaki.models.parts.heads._head import ACTIVATIONS, TaskHead
from niwaki.models.pooling import normalized, pool
from niwaki.models.sentence_modules import Pooling, pooling_of_network


class NoHead(TaskHead):
    architecture = "FeatureExtraction"
    outputs = ("sentence_embedding", "last_hidden_state")

    @property
    def pooling(self) -> Pooling:
        return pooling_of_network(self.network)

    @property
    def pools(self) -> bool:
        return self.pooling.mode != "cls"

    @property
    def final(self) -> str:
        return "" if self.network.dense is None else "dense"

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        return pool(hidden, mask, self.pooling.mode)

    def forward(self, hidden: Tensor) -> Tensor:
        rows, pooling = hidden[:, 0], self.pooling
        if self.network.dense is not None:
            rows = self.network.dense(rows)
            rows = rows if pooling.activation == "none" else ACTIVATIONS[pooling.activation](rows)
        return normalized(rows) if pooling.normalize else rows
