"""STS-B (Cer et al. 2017): how alike are two sentences, from 0 to 5? Scored by Pearson and Spearman correlation."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.regression import Regression


class StsB(Regression):
    published: ClassVar[Published] = Published(
        "stsb", hub_id="nyu-mll/glue:stsb", evaluation_splits={"test": "validation"}
    )
    description: ClassVar[str] = "how alike two sentences are"
