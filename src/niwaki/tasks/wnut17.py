"""WNUT-17 (Derczynski et al. 2017): rare and new names in noisy English text."""

from typing import ClassVar

from niwaki.tasks.tagging import Tagging


class Wnut17(Tagging):
    home: ClassVar[str] = "wnut17"
    hub: ClassVar[str] = "leondz/wnut_17"
    description: ClassVar[str] = "names of people, places, products … in noisy text"
