"""STS-B (Cer et al. 2017): how alike are two sentences, from 0 to 5? Scored by Pearson and Spearman correlation."""

from typing import ClassVar

from niwaki.tasks.regression import Regression


class StsB(Regression):
    home: ClassVar[str] = "stsb"
    hub: ClassVar[str] = "nyu-mll/glue:stsb"
    exam: ClassVar[dict[str, str]] = {"test": "validation"}
    description: ClassVar[str] = "how alike two sentences are"
