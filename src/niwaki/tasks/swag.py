"""SWAG (Zellers et al. 2018): which ending fits the beginning of a scene?"""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.choice import Choice


class Swag(Choice):
    published: ClassVar[Published] = Published("swag_2way", hub_id="allenai/swag:regular")
    description: ClassVar[str] = "which ending fits a beginning"
