"""Initial weights of the averaging student."""

import tiny
from niwaki.methods.distill.averaging import Averaging

from .students import context


def test_frequent_tokens_start_with_less_weight():
    student = Averaging(width=8).prepare(tiny.model("bert"), context())
    weights = student.network.body.embeddings.token_weights.weight[:, 0]
    number = student.tokenizer.convert_tokens_to_ids
    assert weights[number(".")] < weights[number("film")] < weights[number("z")] == 0
