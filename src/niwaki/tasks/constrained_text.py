"""Sentences that satisfy counts of words: generated pairs, verified answers."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._inverse_task import InverseTask


class ConstrainedText(InverseTask):
    max_new_tokens: int = setting(60, "maximum number of generated tokens", ge=1, le=300)

    description: ClassVar[str] = "sentences that satisfy counts of words"
