"""SWAG (Zellers et al. 2018): which ending fits the beginning of a scene?"""

from typing import ClassVar

from niwaki.tasks.choice import Choice


class Swag(Choice):
    folder_name: ClassVar[str] = "swag_2way"
    hub_id: ClassVar[str] = "allenai/swag:regular"
    description: ClassVar[str] = "which ending fits a beginning"
