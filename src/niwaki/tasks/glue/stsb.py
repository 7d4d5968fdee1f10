"""STS-B (Cer et al. 2017): how alike are two sentences, from 0 to 5? Scored by Pearson and Spearman correlation."""

from typing import ClassVar

from niwaki.tasks.regression import Regression


class StsB(Regression):
    folder_name: ClassVar[str] = "stsb"
    hub_id: ClassVar[str] = "nyu-mll/glue:stsb"
    evaluation_splits: ClassVar[dict[str, str]] = {"test": "validation"}
    description: ClassVar[str] = "how alike two sentences are"
