"""Antiderivatives of functions, from derivatives: generated pairs, verified answers."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._inverse_task import InverseTask


class Integration(InverseTask):
    max_new_tokens: int = setting(60, "maximum number of generated tokens", ge=1, le=300)

    description: ClassVar[str] = "antiderivatives of functions, from derivatives"
