"""A student that is no transformer: convolutions of several widths over vectors taken from the teacher.

Of each filter the largest value in each text goes through a hidden layer to the logits; tags and spans are told from what
the filters see around each token.

Paper: Kim 2014, Convolutional Neural Networks for Sentence Classification (arXiv 1408.5882).
Cost: the teacher reads every piece of the vocabulary once.
"""

from typing import Annotated, Any

from pydantic import Field

from niwaki.core.settings import setting
from niwaki.methods.distill._network import NetworkStudent


class Cnn(NetworkStudent):
    widths: list[Annotated[int, Field(ge=1, le=100)]] = setting(
        [1, 2, 3, 5], "how many tokens a filter sees, itself in the middle", min_length=1, max_length=20
    )
    filters: int = setting(128, "of each width", ge=1, le=8192)

    def shape(self) -> dict[str, Any]:
        return {"model_type": "cnn", "filter_widths": self.widths, "num_filters": self.filters}
