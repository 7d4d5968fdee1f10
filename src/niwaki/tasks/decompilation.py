"""Programs from their code for a stack machine: generated pairs, verified answers."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.tasks._inverse_task import InverseTask


class Decompilation(InverseTask):
    max_new_tokens: int = setting(120, "maximum number of generated tokens", ge=1, le=300)

    description: ClassVar[str] = "programs from their code for a stack machine"
