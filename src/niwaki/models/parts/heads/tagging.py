"""Logits of each token's label."""

from niwaki.models.parts.heads._head import PerToken


class Tagging(PerToken):
    architecture = "TokenClassification"
    auto_class = "AutoModelForTokenClassification"

    @property
    def final(self) -> str:
        return self.paths.tagging
