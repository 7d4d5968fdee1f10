"""SST-2 (Socher et al. 2013): is a phrase of a film review positive?"""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Sst2(Classification):
    published: ClassVar[Published] = Published(
        "sst2", hub_id="nyu-mll/glue:sst2", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("negative", "positive")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "sentiment of phrases of film reviews"
