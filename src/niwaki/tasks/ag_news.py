"""AG News (Zhang et al. 2015): is a piece of news of the world, sports, business or science?"""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class AgNews(Classification):
    published: ClassVar[Published] = Published("ag_news", hub_id="fancyzhx/ag_news")
    description: ClassVar[str] = "topic of a piece of news"
    label_names: ClassVar[tuple[str, ...]] = ("World", "Sports", "Business", "Sci/Tech")
