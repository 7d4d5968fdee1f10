"""Values that a config may have."""

import pytest

from niwaki.models import value_rules as rules


@pytest.mark.parametrize(
    ("value", "valid"), [(0, True), (5, True), (6, False), (-1, False), (1.0, False), (True, False)]
)
def test_whole_numbers_are_limited_and_not_booleans(value, valid):
    assert rules.whole(5)(value) is valid


@pytest.mark.parametrize(
    ("value", "valid"), [(0, True), (0.5, True), (1, True), (1.1, False), (True, False), ("1", False)]
)
def test_shares_are_numbers_from_0_to_1(value, valid):
    assert rules.share(value) is valid


@pytest.mark.parametrize("name", ["a\x1b[31m", "a\nb", "\u202egnp", "\ud800", "x" * 1001])
def test_labels_cannot_contain_control_characters(name):
    assert not rules.is_label(name) and not rules.labels({"0": name}) and not rules.label_numbers({name: 0})
    assert rules.labels({"0": "bad", 1: "sehr gut"}) and rules.label_numbers({"bad": 0})


@pytest.mark.parametrize(
    ("value", "valid"), [([1, 3], True), ([3, 1], False), ([1, 1], False), ([], False), ([0], False)]
)
def test_exits_are_distinct_layers_in_order(value, valid):
    assert rules.exits(value) is valid


def test_answer_settings_are_flat():
    assert rules.answer({"kind": "label", "threshold": 0.5, "ids": [1, 2]})
    assert not rules.answer({"kind": {"nested": 1}}) and not rules.answer([]) and not rules.answer({"x": ["a"]})


def test_tokenizer_classes_are_those_of_known_families():
    assert rules.tokenizer_class("BertTokenizerFast") and rules.tokenizer_class("PreTrainedTokenizerFast")
    assert not rules.tokenizer_class("EvilTokenizer") and not rules.tokenizer_class(None)
