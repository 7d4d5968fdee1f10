"""Tokenizers for encoders: ids as trained, a mask token behind them, special tokens around texts and pairs."""

import json

import pytest

import tiny
from niwaki.tokenization.encoder_tokenizer import MASK, for_encoder
from niwaki.tokenization.training import BOS, EOS, make

TEXTS = [text for text, _ in tiny.sentences(40)]
SPLITS = {"words": 60, "bpe": 300, "wordpiece": 120}  # and sizes of vocabularies


@pytest.mark.parametrize("split", SPLITS)
def test_the_mask_token_gets_the_next_id_and_others_keep_theirs(split):
    content = make(TEXTS, split, SPLITS[split])
    trained = json.loads(content)["model"]["vocab"]
    assert for_encoder(content).get_vocab() == {**trained, MASK: len(trained)}


@pytest.mark.parametrize("split", SPLITS)
def test_special_tokens_stand_around_a_text_and_between_two(split):
    tokenizer = for_encoder(make(TEXTS, split, SPLITS[split]))
    first, second = (tokenizer.encode(text, add_special_tokens=False).tokens for text in TEXTS[:2])
    single, pair = tokenizer.encode(TEXTS[0]), tokenizer.encode(TEXTS[0], TEXTS[1])
    assert single.tokens == [BOS, *first, EOS] and set(single.type_ids) == {0}
    assert pair.tokens == [BOS, *first, EOS, *second, EOS]
    assert pair.type_ids == [0] * (len(first) + 2) + [1] * (len(second) + 1)


def test_a_text_that_spells_the_mask_token_out_does_not_mask():
    tokenizer = for_encoder(make(TEXTS, "bpe", 300))
    assert tokenizer.token_to_id(MASK) not in tokenizer.encode(f"the {MASK} was").ids
