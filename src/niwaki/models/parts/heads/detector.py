"""Whether a token was replaced: one logit for every token, positive for a replaced one. The head of ELECTRA's discriminator."""

from torch import Tensor

from niwaki.models.family import DetectorPaths
from niwaki.models.parts.heads._head import TaskHead, activation_of


class Detector(TaskHead):
    no_native = "it trains networks and answers no task"
    architecture = "PreTraining"
    auto_class = "AutoModelForPreTraining"
    per_token = True
    pretrains = True

    @property
    def detector(self) -> DetectorPaths:
        assert self.paths.detector is not None  # `skeleton.build`
        return self.paths.detector

    @property
    def inner(self) -> tuple[str, ...]:
        return (self.detector.dense,)

    @property
    def final(self) -> str:
        return self.detector.final

    def forward(self, hidden: Tensor) -> Tensor:
        """(…, hidden) to (…, 1)."""
        part, activation = self.network.get_submodule, self.detector.activation
        inner = part(self.detector.dense)(hidden)
        return part(self.final)(activation_of(self.network, activation)(inner))
