"""RTE (Dagan et al. 2006 and later): does a sentence follow from a text?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Rte(Classification):
    home: ClassVar[str] = "rte"
    hub: ClassVar[str] = "nyu-mll/glue:rte"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from a text"
