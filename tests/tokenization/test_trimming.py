"""Trimmed vocabularies: the same texts are encoded, and ids keep their tokens."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer

import spm
import tiny
from niwaki.core.errors import InputError
from niwaki.tokenization.sentencepiece_file import parse
from niwaki.tokenization.sentencepiece_tokenizer import tokenizer_of
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


def byte_level():
    found = Tokenizer(BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    found.train_from_iterator(
        TEXTS * 3,
        BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<s>", "</s>"], show_progress=False),
    )
    found.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    return found


def of_sentencepiece(**options):
    return Tokenizer.from_str(json.dumps(tokenizer_of(parse(spm.model(**options), "x"))))


OTHERS = {
    "byte-level": byte_level,
    "unigram": of_sentencepiece,
    "bpe": lambda: of_sentencepiece(tokens=spm.BPE_TOKENS, kind=spm.BPE),
    "bytes": lambda: of_sentencepiece(tokens=spm.BPE_TOKENS, kind=spm.BPE, byte_fallback=True),
}
CORPUS = ["the good plot", "a good good actor", "the end was good"]


@pytest.mark.parametrize("all_characters", [True, False])
@pytest.mark.parametrize("kind", OTHERS)
def test_covered_texts_are_tokenized_as_before(kind, all_characters):
    whole = OTHERS[kind]()
    keep = used_tokens(whole, CORPUS, 1, all_characters)
    small = trim(whole, keep)
    assert len(keep) == small.get_vocab_size() < whole.get_vocab_size()
    draw, covered = random.Random(0), 0
    words = sorted({word for text in [*TEXTS, *CORPUS, *spm.TEXTS] for word in text.split()})
    for text in [*CORPUS, *spm.TEXTS, *(" ".join(draw.choices(words, k=3)) for _ in range(300))]:
        before, after = whole.encode(text).ids, [keep[number] for number in small.encode(text).ids]
        if set(before) <= set(keep):
            covered += 1
            assert before == after, text
    assert covered >= len(CORPUS)


@pytest.mark.parametrize("kind", ["byte-level", "bytes"])
def test_any_text_can_still_be_spelled(kind):
    whole = OTHERS[kind]()
    small = trim(whole, used_tokens(whole, CORPUS, 1, all_characters=False))
    decoder = whole.decoder or decoders.ByteLevel()
    small.decoder = decoder
    assert small.decode(small.encode("日本 été!").ids) == "日本 été!"


def test_unused_characters_go_on_request():
    whole = OTHERS["unigram"]()
    with_all, without = (used_tokens(whole, CORPUS, 1, all_characters) for all_characters in (True, False))
    assert whole.token_to_id("z") in with_all and whole.token_to_id("z") not in without
    assert whole.token_to_id("▁") in without


def test_the_token_for_unknown_words_must_stay():
    with pytest.raises(InputError, match="the token for unknown words must be kept"):
        trim(OTHERS["unigram"](), [3, 4, 5])
