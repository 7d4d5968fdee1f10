"""RTE (Dagan et al. 2006 and later): does a sentence follow from a text?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Rte(Classification):
    folder_name: ClassVar[str] = "rte"
    hub_id: ClassVar[str] = "nyu-mll/glue:rte"
    evaluation_splits: ClassVar[dict[str, str]] = {"test": "validation"}
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from a text"
