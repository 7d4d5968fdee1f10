"""A student without attention: convolutions of several widths over token vectors taken from the teacher.

The maximum of each filter over each text goes through a hidden layer to the logits; tags and spans are predicted from the filters
around each token.

Paper: Kim 2014, Convolutional Neural Networks for Sentence Classification (arXiv 1408.5882).
Cost: the teacher reads every token of the vocabulary once.
"""

from typing import Annotated

from pydantic import Field

from niwaki.core.json_types import Json
from niwaki.core.settings import setting
from niwaki.methods.distill._network import NetworkStudent


class Cnn(NetworkStudent):
    widths: list[Annotated[int, Field(ge=1, le=100)]] = setting(
        [1, 2, 3, 5], "widths of the filters in tokens, centred on each token", min_length=1, max_length=20
    )
    filters: int = setting(128, "filters of each width", ge=1, le=8192)

    def shape(self) -> Json:
        return {"model_type": "cnn", "filter_widths": self.widths, "num_filters": self.filters}
