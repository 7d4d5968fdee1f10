"""SQuAD 2.0 (Rajpurkar et al. 2018): as 1.1, but half of the questions have no answer in their paragraph."""

from typing import ClassVar

from niwaki.tasks.squad import Squad


class SquadV2(Squad):
    folder_name: ClassVar[str] = "squad_v2"
    hub_id: ClassVar[str] = "rajpurkar/squad_v2"
    description: ClassVar[str] = "the stretch of a paragraph that answers a question, or that there is none"
