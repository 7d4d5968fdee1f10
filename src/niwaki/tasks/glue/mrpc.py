"""MRPC (Dolan and Brockett 2005): do two sentences of the news say the same? Scored by F1 and accuracy."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Mrpc(Classification):
    home: ClassVar[str] = "mrpc"
    hub: ClassVar[str] = "nyu-mll/glue:mrpc"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("not_equivalent", "equivalent")
    metric: ClassVar[str] = "mean"
    measures: ClassVar[tuple[str, ...]] = ("f1", "accuracy")
    description: ClassVar[str] = "whether two sentences say the same"
