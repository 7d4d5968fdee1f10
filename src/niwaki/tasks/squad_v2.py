"""SQuAD 2.0 (Rajpurkar et al. 2018): as 1.1, but half of the questions have no answer in their paragraph."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.squad import Squad


class SquadV2(Squad):
    published: ClassVar[Published] = Published("squad_v2", hub_id="rajpurkar/squad_v2")
    description: ClassVar[str] = "the stretch of a paragraph that answers a question, or that there is none"
