"""RTE (Dagan et al. 2006 and later): does a sentence follow from a text?"""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Rte(Classification):
    published: ClassVar[Published] = Published(
        "rte", hub_id="nyu-mll/glue:rte", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from a text"
