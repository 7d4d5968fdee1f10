"""AG News (Zhang et al. 2015): is a piece of news of the world, sports, business or science?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class AgNews(Classification):
    folder_name: ClassVar[str] = "ag_news"
    hub_id: ClassVar[str] = "fancyzhx/ag_news"
    description: ClassVar[str] = "topic of a piece of news"
    label_names: ClassVar[tuple[str, ...]] = ("World", "Sports", "Business", "Sci/Tech")
