"""CoLA (Warstadt et al. 2019): is an English sentence acceptable? Scored by Matthews correlation."""

from typing import ClassVar

from niwaki.tasks.classification import Classification


class Cola(Classification):
    home: ClassVar[str] = "cola"
    hub: ClassVar[str] = "nyu-mll/glue:cola"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    names: ClassVar[tuple[str, ...]] = ("unacceptable", "acceptable")
    metric: ClassVar[str] = "matthews"
    measures: ClassVar[tuple[str, ...]] = ("matthews", "accuracy")
    description: ClassVar[str] = "whether a sentence is acceptable English"
