"""MNLI (Williams et al. 2018): does a sentence follow from another? Two test sets: matched and mismatched genres."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Mnli(Classification):
    home: ClassVar[str] = "mnli"
    hub: ClassVar[str] = "nyu-mll/glue:mnli"
    exam: ClassVar[dict[str, str]] = {"test": "validation_matched", "mismatched": "validation_mismatched"}
    names: ClassVar[tuple[str, ...]] = ("entailment", "neutral", "contradiction")
    metric: ClassVar[str] = "accuracy"
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence follows from another"
