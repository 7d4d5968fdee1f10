"""Logits of the next token, from a decoder."""

from niwaki.models.parts.heads._head import TaskHead


class LanguageModel(TaskHead):
    architecture = "ConditionalGeneration"
    auto_class = "AutoModelForSeq2SeqLM"
    other_endings = ("MTModel",)
    per_token = True
    generates = True
