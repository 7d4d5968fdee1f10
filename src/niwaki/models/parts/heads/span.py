"""Two logits for each token: whether an answer begins there, and whether it ends there."""

from niwaki.models.parts.heads._head import PerToken


class Span(PerToken):
    architecture = "QuestionAnswering"
    other_endings = ("ForQuestionAnsweringSimple",)
    auto_class = "AutoModelForQuestionAnswering"

    @property
    def final(self) -> str:
        return self.paths.span
