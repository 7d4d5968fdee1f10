"""WNLI (Levesque et al. 2012): does a sentence with a pronoun filled in follow? Read its caveat before its score."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class Wnli(Classification):
    published: ClassVar[Published] = Published(
        "wnli",
        hub_id="nyu-mll/glue:wnli",
        evaluation_splits={"test": "validation"},
        caveat=(
            "WNLI's development rows are made of the train rows' sentences with the labels turned over: a model that learns "
            "falls below 50 %, one that learns nothing scores 56.3 % by always saying not_entailment. Most tables leave it out."
        ),
    )
    label_names: ClassVar[tuple[str, ...]] = ("not_entailment", "entailment")
    metric: ClassVar[str] = "accuracy"
    metrics: ClassVar[tuple[str, ...]] = ("accuracy",)
    description: ClassVar[str] = "whether a sentence with its pronoun filled in follows"
