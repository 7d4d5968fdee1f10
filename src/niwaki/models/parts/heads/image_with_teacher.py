"""Logits for whole images from two special tokens, each with a matrix of its own; their mean (a distilled DeiT)."""

from typing import ClassVar

from torch import Tensor, nn

from niwaki.models.parts.heads._head import TaskHead


class ImageWithTeacher(TaskHead):
    """Such heads are read as published; a task puts a new head for the first token in their place."""

    no_native = "the engine reads token ids, not pixels"
    architecture = "ImageClassificationWithTeacher"
    auto_class = "AutoModelForImageClassification"
    from_hidden: ClassVar[tuple[str, ...]] = ("cls_classifier", "distillation_classifier")

    @property
    def pooling(self) -> str:
        return "special"

    def pool(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Both tokens side by side: (batch, 2 × hidden)."""
        return hidden[:, :2].flatten(1)

    def forward(self, hidden: Tensor) -> Tensor:
        both = hidden[:, 0].chunk(2, dim=-1)
        first, second = (self.get_submodule(path)(one) for path, one in zip(self.from_hidden, both, strict=True))
        return (first + second) / 2

    def get_submodule(self, path: str) -> nn.Module:
        return self.network.get_submodule(path)

    def set_submodule(self, path: str, module: nn.Module) -> None:
        self.network.set_submodule(path, module)
