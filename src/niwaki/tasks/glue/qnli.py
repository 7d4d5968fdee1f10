"""QNLI (Wang et al. 2019, from SQuAD): does a sentence answer a question?"""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Qnli(Classification):
    published: ClassVar[Published] = Published(
        "qnli", hub_id="nyu-mll/glue:qnli", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("entailment", "not_entailment")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence answers a question"
