"""WNUT-17 (Derczynski et al. 2017): rare and new names in noisy English text."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.tagging import Tagging


class Wnut17(Tagging):
    published: ClassVar[Published] = Published("wnut17", hub_id="leondz/wnut_17")
    description: ClassVar[str] = "names of people, places, products … in noisy text"
