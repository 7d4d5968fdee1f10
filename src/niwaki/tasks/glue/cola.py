"""CoLA (Warstadt et al. 2019): is an English sentence acceptable? Scored by Matthews correlation."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Cola(Classification):
    folder_name: ClassVar[str] = "cola"
    hub_id: ClassVar[str] = "nyu-mll/glue:cola"
    evaluation_splits: ClassVar[dict[str, str]] = {"test": "validation"}
    label_names: ClassVar[tuple[str, ...]] = ("unacceptable", "acceptable")
    metric: ClassVar[str] = "matthews"
    metrics: ClassVar[tuple[str, ...]] = ("matthews", "accuracy")
    description: ClassVar[str] = "whether a sentence is acceptable English"
