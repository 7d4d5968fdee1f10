"""MRPC (Dolan and Brockett 2005): do two sentences of the news say the same? Scored by F1 and accuracy."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Mrpc(Classification):
    published: ClassVar[Published] = Published(
        "mrpc", hub_id="nyu-mll/glue:mrpc", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("not_equivalent", "equivalent")
    metric: ClassVar[str] = "mean"
    metrics: ClassVar[tuple[str, ...]] = ("f1", "accuracy")
    description: ClassVar[str] = "whether two sentences say the same"
