import pytest
import torch

import tiny
from niwaki.core.errors import UsageError
from niwaki.evaluate.looking.target import target_of


def test_logits_of_several_inputs_are_in_their_order(subject):
    one = subject()
    texts = ["a film", "the very good plot was fine", "dull"]
    each = one.logits_of(one.encode(texts))
    for text, logits in zip(texts, each, strict=True):
        torch.testing.assert_close(logits, one.logits_of(one.encode([text]))[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(one.logits[0], one.one.logits(), atol=1e-5, rtol=1e-5)


def test_tokens_of_words_are_replaced_by_the_baseline(subject):
    found = subject("a film").one
    mask = tiny.tokenizer().mask_token_id
    assert found.baseline_inputs["input_ids"][0].tolist() == [found.ids[0], mask, mask, found.ids[-1]]


def test_a_folder_without_torch_weights_answers_only(subject):
    one = subject()
    alone = type(one)(one.predictor, None, "no weights", one.given, one.kind)
    torch.testing.assert_close(alone.logits[0], one.logits[0], atol=1e-4, rtol=1e-4)
    assert alone.no_logits == ""


def test_names_and_labels(subject):
    one = subject()
    assert one.name(tiny.tokenizer().convert_tokens_to_ids("film")) == "film" and one.labels == ["bad", "good"]
    assert target_of(one.kind, one.logits[0], None, one.labels, one.name) is not None


def test_inputs_of_a_wrong_type_are_rejected(subject):
    with pytest.raises(UsageError, match="must be"):
        subject(3)
