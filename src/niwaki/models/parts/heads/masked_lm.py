"""Logits of all tokens of the vocabulary, for every token: mostly a dense layer with a norm, then the token table as a matrix.

Whether a token is predicted at its own place (masked language models) or at the one before it (causal ones) is for the
objective to say.
"""

from torch import Tensor

from niwaki.models.family import VocabularyPaths
from niwaki.models.parts.heads._head import TaskHead, activation_of
from niwaki.models.vocabulary_matrix import VocabularyMatrix


class MaskedLM(TaskHead):
    no_native = "of encoders; those of causal networks are translated as decoders"
    architecture = "MaskedLM"
    other_endings = ("LMHeadModel", "ForCausalLM")
    auto_class = "AutoModelForMaskedLM"
    per_token = True
    pretrains = True

    @property
    def vocabulary(self) -> VocabularyPaths:
        assert self.paths.vocabulary is not None  # `skeleton.build`
        return self.paths.vocabulary

    @property
    def inner(self) -> tuple[str, ...]:
        return (self.vocabulary.dense,) if self.vocabulary.dense else ()

    @property
    def final(self) -> str:
        tied = isinstance(self.network.get_submodule(self.vocabulary.table), VocabularyMatrix)
        return "" if tied else self.vocabulary.table

    def forward(self, hidden: Tensor) -> Tensor:
        paths, part = self.vocabulary, self.network.get_submodule
        if not paths.dense:
            return part(paths.table)(hidden)
        activation = activation_of(self.network, paths.activation)
        rows = part(paths.norm)(activation(part(paths.dense)(hidden)))
        return part(paths.wider).scores(rows) if paths.wider else part(paths.table)(rows)
