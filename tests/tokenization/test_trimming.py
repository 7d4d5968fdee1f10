"""Trimmed vocabularies: the same texts are encoded, and ids keep their tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.core.errors import InputError
from niwaki.tokenization.trimming import trim, trimmed, used_tokens, without_padding

TEXTS = [text for text, _ in tiny.sentences(12)]
WORDS = some.lists(
    some.sampled_from([*tiny.GOOD, *tiny.BAD, *tiny.PLAIN, "unseenly", "refilms", "xyz", "é", "电"]), max_size=8
)


@pytest.fixture(scope="module", params=[False, True])
def pair(request):
    whole = tiny.tokenizer(request.param).backend_tokenizer
    keep = used_tokens(whole, TEXTS, 1)
    return whole, trim(whole, keep), keep


def test_ids_keep_their_tokens(pair):
    whole, small, keep = pair
    assert [small.id_to_token(number) for number in range(small.get_vocab_size())] == [
        whole.id_to_token(old) for old in keep
    ]
    assert small.get_vocab_size() == len(keep) < whole.get_vocab_size()


def test_texts_of_the_corpus_split_as_before(pair):
    whole, small, keep = pair
    for text in TEXTS:
        before, after = whole.encode(text, text), small.encode(text, text)
        assert before.tokens == after.tokens and before.type_ids == after.type_ids
        assert [keep[number] for number in after.ids] == before.ids


@given(words=WORDS)
def test_no_text_becomes_unreadable(pair, words):
    whole, small, _ = pair
    text = " ".join(words)
    assert ("[UNK]" in small.encode(text).tokens) == ("[UNK]" in whole.encode(text).tokens)


def test_special_tokens_and_letters_always_stay():
    whole = tiny.tokenizer().backend_tokenizer
    keep = used_tokens(whole, [], 1)
    remaining = {whole.id_to_token(number) for number in keep}
    assert {"[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", "a", "##a", "."} <= remaining
    assert "film" not in remaining


def test_min_count():
    whole = tiny.tokenizer().backend_tokenizer
    texts = ["film film plot", "film"]
    count = {number: {whole.id_to_token(k) for k in used_tokens(whole, texts, number)} for number in (1, 2, 4)}
    assert "plot" in count[1] and "plot" not in count[2]
    assert "film" in count[2] and "film" not in count[4]


@pytest.mark.parametrize(
    "names", [["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"]], ids=len
)
def test_the_transformers_tokenizer_keeps_special_tokens_and_inputs(names):
    whole = tiny.tokenizer()
    whole.model_input_names = names
    small = trimmed(whole, used_tokens(whole.backend_tokenizer, TEXTS, 1))
    assert small.pad_token == "[PAD]" and small.convert_ids_to_tokens(small.pad_token_id) == "[PAD]"
    assert small.model_max_length == whole.model_max_length
    assert list(small(TEXTS[0])) == names


def test_plain_neither_pads_nor_cuts():
    inner = tiny.tokenizer().backend_tokenizer
    inner.enable_truncation(3)
    inner.enable_padding(length=9)
    assert len(without_padding(inner).encode("film film film film").ids) == 6
    assert inner.truncation is not None


def test_other_tokenizer_models_are_rejected():
    from tokenizers import Tokenizer
    from tokenizers.models import BPE

    with pytest.raises(InputError, match=r"only WordPiece.*BPE"):
        trim(Tokenizer(BPE()), [0])
