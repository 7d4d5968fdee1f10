"""QNLI (Wang et al. 2019, from SQuAD): does a sentence answer a question?"""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Qnli(Classification):
    folder_name: ClassVar[str] = "qnli"
    hub_id: ClassVar[str] = "nyu-mll/glue:qnli"
    evaluation_splits: ClassVar[dict[str, str]] = {"test": "validation"}
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence answers a question"
