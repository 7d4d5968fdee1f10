"""CoLA (Warstadt et al. 2019): is an English sentence acceptable? Scored by Matthews correlation."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Cola(Classification):
    published: ClassVar[Published] = Published(
        "cola", hub_id="nyu-mll/glue:cola", evaluation_splits={"test": "validation"}
    )
    label_names: ClassVar[tuple[str, ...]] = ("unacceptable", "acceptable")
    metric: ClassVar[str] = "matthews"
    metrics: ClassVar[tuple[str, ...]] = ("matthews", "accuracy")
    description: ClassVar[str] = "whether a sentence is acceptable English"
