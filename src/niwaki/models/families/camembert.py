"""CamemBERT (Martin et al. 2020): RoBERTa on French."""

from typing import ClassVar

from niwaki.models.families.roberta import Roberta


class Camembert(Roberta):
    tokenizers: ClassVar[tuple[str, ...]] = ("Camembert",)
