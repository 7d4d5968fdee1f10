"""Logits for whole sequences, from the first token (or the last, of causal networks): one or several labels, a number, or the score of one choice."""

from torch import Tensor, nn

from niwaki.models.parts.heads._head import ACTIVATIONS, TaskHead


class Classification(TaskHead):
    architecture = "SequenceClassification"
    auto_class = "AutoModelForSequenceClassification"
    native = "dense"

    @property
    def pooling(self) -> str:
        return self.paths.sequence

    @property
    def inner(self) -> tuple[str, ...]:
        return self.paths.inner

    @property
    def final(self) -> str:
        return self.paths.final

    @property
    def activation(self) -> str:
        return self.paths.activation

    def forward(self, hidden: Tensor) -> Tensor:
        rows, path = hidden[:, 0], self.paths.dropout
        dropout = self.network.get_submodule(path) if path else nn.Identity()
        rows = dropout(rows) if self.paths.dropout_first else rows
        for path in self.inner:
            rows = ACTIVATIONS[self.activation](self.network.get_submodule(path)(rows))
        return self.network.get_submodule(self.final)(dropout(rows))
