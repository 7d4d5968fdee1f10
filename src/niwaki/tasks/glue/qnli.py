"""QNLI (Wang et al. 2019, from SQuAD): does a sentence answer a question?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Qnli(Classification):
    home: ClassVar[str] = "qnli"
    hub: ClassVar[str] = "nyu-mll/glue:qnli"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    measures: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence answers a question"
