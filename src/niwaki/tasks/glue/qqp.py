"""QQP (Quora 2017): do two questions ask the same? Scored by F1 and accuracy."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Qqp(Classification):
    home: ClassVar[str] = "qqp"
    hub: ClassVar[str] = "nyu-mll/glue:qqp"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("not_duplicate", "duplicate")
    metric: ClassVar[str] = "mean"
    measures: ClassVar[tuple[str, ...]] = ("f1", "accuracy")
    description: ClassVar[str] = "whether two questions ask the same"
