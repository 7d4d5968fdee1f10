"""What noise knows of a tokenizer: of one trained here, of one of transformers, and of one that lacks it."""

import pytest

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.tokenization.encoder_tokenizer import MASK
from niwaki.tokenization.noise_tokens import NoiseTokens, require, sentinel_ids
from niwaki.tokenization.text_to_text_tokenizer import for_text_to_text
from niwaki.tokenization.training import make

TEXTS = [text + " . Why ? Because 。" for text, _ in tiny.sentences(50)]


@pytest.fixture(scope="module", params=["bpe", "words", "characters"])
def tokenizer(request):
    return for_text_to_text(make(TEXTS, request.param, 400), 5, begins_with_bos=True)


def test_tokens_of_a_trained_tokenizer(tokenizer):
    known, size = NoiseTokens.of(tokenizer), tokenizer.get_vocab_size()
    assert known.sentinels.tolist() == list(range(size - 5, size))
    assert known.mask_id == tokenizer.token_to_id(MASK) == size - 6
    assert (known.before.tolist(), known.after.tolist()) == ([1], [2])
    assert known.ordinary.tolist() == list(range(4, size - 6))


def test_sentences_end_at_full_stops(tokenizer):
    known = NoiseTokens.of(tokenizer)
    ids = tokenizer.encode("the film . Why ? the plot", add_special_tokens=False).ids
    ends = [tokenizer.id_to_token(one).removeprefix("Ġ") for one in ids if known.ends_sentence[one]]
    assert ends == [".", "?"]


def test_the_order_of_sentinels_is_that_of_their_numbers():
    assert sentinel_ids({"<extra_id_1>": 8, "<extra_id_0>": 9, "<extra_id_3>": 5, "a": 1}) == [9, 8]


def test_a_tokenizer_without_sentinels_is_rejected():
    known = NoiseTokens.of(stock.tokenizer("t5").backend_tokenizer)
    assert known.mask_id == -1 and not len(known.sentinels)
    with pytest.raises(
        InputError, match="noise 'spans' needs sentinel tokens such as <extra_id_0>, and the model's tokenizer has 0"
    ):
        require(known, 2, "noise 'spans'")
    with pytest.raises(InputError, match="needs a mask token or sentinels"):
        require(known, 0, "noise 'mask'")


def test_without_a_mask_token_the_first_sentinel_masks():
    words = [*stock.WORDS, "<extra_id_0>", "<extra_id_1>"]
    known = NoiseTokens.of(stock.tokenizer("t5", words).backend_tokenizer)
    assert known.mask_id == known.sentinels[0] and len(known.sentinels) == 2
    require(known, 2, "noise 'spans'")
