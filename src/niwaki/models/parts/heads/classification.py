"""Logits for whole sequences, from the first token (or the last, of causal networks): one or several labels, a number, or the score of one choice."""

from typing import ClassVar

from torch import Tensor, nn

from niwaki.models.module_paths import has_module
from niwaki.models.parts.heads._head import TaskHead, transform


class Classification(TaskHead):
    architecture = "SequenceClassification"
    auto_class = "AutoModelForSequenceClassification"
    native: ClassVar[str | None] = "dense"

    @property
    def pooling(self) -> str:
        key = self.paths.sequence_key
        return str(getattr(self.network.config, key)) if key else self.paths.sequence

    @property
    def inner(self) -> tuple[str, ...]:
        return tuple(path for path in self.paths.inner if has_module(self.network, path))  # some configs leave it out

    @property
    def final(self) -> str:
        return self.paths.final

    @property
    def activation(self) -> str:
        return self.paths.activation

    def forward(self, hidden: Tensor) -> Tensor:
        first, last = (self._dropout(path) for path in (self.paths.first_dropout, self.paths.dropout))
        return self.network.get_submodule(self.final)(last(transform(self, first(hidden[:, 0]))))

    def _dropout(self, path: str) -> nn.Module:
        return self.network.get_submodule(path) if path else nn.Identity()
