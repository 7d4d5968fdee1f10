"""SST-2 (Socher et al. 2013): is a phrase of a film review positive?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Sst2(Classification):
    home: ClassVar[str] = "sst2"
    hub: ClassVar[str] = "nyu-mll/glue:sst2"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("negative", "positive")
    metric: ClassVar[str] = "accuracy"
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "sentiment of phrases of film reviews"
