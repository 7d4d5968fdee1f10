"""QQP (Quora 2017): do two questions ask the same? Scored by F1 and accuracy."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Qqp(Classification):
    folder_name: ClassVar[str] = "qqp"
    hub_id: ClassVar[str] = "nyu-mll/glue:qqp"
    evaluation_splits: ClassVar[dict[str, str]] = {"test": "validation"}
    label_names: ClassVar[tuple[str, ...]] = ("not_duplicate", "duplicate")
    metric: ClassVar[str] = "mean"
    metrics: ClassVar[tuple[str, ...]] = ("f1", "accuracy")
    description: ClassVar[str] = "whether two questions ask the same"
