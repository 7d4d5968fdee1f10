"""Polynomials as products of irreducible ones: generated pairs, verified answers."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._inverse_task import InverseTask


class Factoring(InverseTask):
    max_new_tokens: int = setting(80, "maximum number of generated tokens", ge=1, le=300)

    description: ClassVar[str] = "polynomials as products of irreducible ones"
