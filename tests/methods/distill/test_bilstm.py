"""The BiLSTM student."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.distill.bilstm import BiLstm

from .students import context


def test_weights_depend_only_on_the_seed():
    torch.manual_seed(1)
    one = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=5)).network.state_dict()
    torch.manual_seed(2)
    two = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=5)).network.state_dict()
    other = BiLstm(units=4).prepare(tiny.model("bert"), context(seed=6)).network.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["body.lstm.0.input"], other["body.lstm.0.input"])


def test_a_tokenizer_without_a_separator_is_rejected():
    start = tiny.model("bert")
    start.tokenizer.sep_token = None
    with pytest.raises(InputError, match="bilstm: the tokenizer has no separator"):
        BiLstm().prepare(start, context())
