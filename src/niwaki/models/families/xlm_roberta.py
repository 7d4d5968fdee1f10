"""XLM-RoBERTa (Conneau et al. 2020): RoBERTa on a hundred languages. XLM-R, multilingual E5 and BGE-M3 are saved as it."""

from typing import ClassVar

from niwaki.models.families.roberta import Roberta


class XlmRoberta(Roberta):
    tokenizers: ClassVar[tuple[str, ...]] = ("XLMRoberta",)
