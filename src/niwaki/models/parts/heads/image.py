"""Logits for whole images, from the first token."""

from niwaki.models.parts.heads.classification import Classification


class Image(Classification):
    architecture = "ImageClassification"
    auto_class = "AutoModelForImageClassification"
    reads = "images"
    native = None
