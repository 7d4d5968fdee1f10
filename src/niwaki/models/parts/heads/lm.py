"""Logits of the next token, from a decoder."""

from niwaki.models.parts.heads._head import TaskHead
from niwaki.models.tables import TiedHead


class LanguageModel(TaskHead):
    no_native = "the decoder scores tokens"
    architecture = "ConditionalGeneration"
    auto_class = "AutoModelForSeq2SeqLM"
    other_endings = ("MTModel",)
    per_token = True
    generates = True

    @property
    def final(self) -> str:
        """The output matrix, where it is not the token table."""
        own = self.network._modules.get(self.paths.final)
        return "" if own is None or isinstance(own, TiedHead) else self.paths.final
