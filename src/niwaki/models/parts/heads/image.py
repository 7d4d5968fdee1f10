"""Logits for whole images, from the first token."""

from typing import ClassVar

from niwaki.models.parts.heads.classification import Classification


class Image(Classification):
    architecture = "ImageClassification"
    auto_class = "AutoModelForImageClassification"
    native: ClassVar[str | None] = None
