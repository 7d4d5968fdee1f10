"""Tokenizers of encoder-decoders: ids of their special tokens, and texts that come back."""

import pytest

from niwaki.tokenization.text_to_text_tokenizer import for_text_to_text
from niwaki.tokenization.training import make

TEXTS = ["the film was good", "naïve café 水"]


@pytest.mark.parametrize("begins_with_bos", [True, False])
def test_special_tokens_around_a_text(begins_with_bos):
    tokenizer = for_text_to_text(make(TEXTS, "words", 50), 3, begins_with_bos)
    words = len({word for text in TEXTS for word in text.split()})
    assert tokenizer.encode("film").ids == [1] * begins_with_bos + [tokenizer.token_to_id("film"), 2]
    assert [tokenizer.token_to_id(f"<extra_id_{n}>") for n in range(4)] == [words + 5, words + 6, words + 7, None]
    assert tokenizer.token_to_id("[MASK]") == words + 4


def test_bytes_are_256_tokens_and_special_ones():
    tokenizer = for_text_to_text(make(TEXTS, "bytes", 260), 100, begins_with_bos=False)
    assert tokenizer.get_vocab_size() == 256 + 4 + 1 + 100
    ids = tokenizer.encode(TEXTS[1]).ids
    assert len(ids) == len(TEXTS[1].encode()) + 1 and tokenizer.decode(ids[:-1]) == TEXTS[1]
