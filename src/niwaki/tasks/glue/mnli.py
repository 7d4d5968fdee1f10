"""MNLI (Williams et al. 2018): does a sentence follow from another? Two test sets: matched and mismatched genres."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Mnli(Classification):
    published: ClassVar[Published] = Published(
        "mnli",
        hub_id="nyu-mll/glue:mnli",
        evaluation_splits={"test": "validation_matched", "mismatched": "validation_mismatched"},
    )
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "neutral", "contradiction")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from another"
