"""SWAG (Zellers et al. 2018): which ending fits the beginning of a scene?"""

from typing import ClassVar

from niwaki.tasks.choice import Choice


class Swag(Choice):
    home: ClassVar[str] = "swag_2way"
    hub: ClassVar[str] = "allenai/swag:regular"
    description: ClassVar[str] = "which ending fits a beginning"
