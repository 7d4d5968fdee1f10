"""Logits for whole images, from the first token."""

from niwaki.models.parts.heads.classification import Classification


class Image(Classification):
    native = None
    no_native = "the engine reads token ids, not pixels"
    architecture = "ImageClassification"
    auto_class = "AutoModelForImageClassification"
