"""QQP (Quora 2017): do two questions ask the same? Scored by F1 and accuracy."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Qqp(Classification):
    published: ClassVar[Published] = Published(
        "qqp", hub_id="nyu-mll/glue:qqp", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("not_duplicate", "duplicate")
    metric: ClassVar[str] = "mean"
    metrics: ClassVar[tuple[str, ...]] = ("f1", "accuracy")
    description: ClassVar[str] = "whether two questions ask the same"
