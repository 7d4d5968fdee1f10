"""Converted SentencePiece models split texts as SentencePiece's two algorithms say, here written out for tiny models."""

import itertools
import json
import math

import pytest
from tokenizers import Tokenizer

import spm
from niwaki.tokenization import tokenizer_rules
from niwaki.tokenization.sentencepiece_file import parse
from niwaki.tokenization.sentencepiece_tokenizer import tokenizer_of, with_vocabulary

UNKNOWN_PENALTY = 10.0


def converted(**options):
    values = tokenizer_of(parse(spm.model(**options), "x"))
    tokenizer_rules.check(values, "x")
    return Tokenizer.from_str(json.dumps(values))


def tokens_of(tokenizer, text):
    return [tokenizer.id_to_token(number) for number in tokenizer.encode(text).ids]


def normalized(text):
    return "".join(f"▁{word}" for word in text.split(" ") if word)


def best_path(text, scores):
    """The segmentation with the best sum of scores; neighbouring unknown characters are one token."""
    unknown = min(scores.values()) - UNKNOWN_PENALTY
    best = [(0.0, [])] + [(-math.inf, [])] * len(text)
    for end in range(1, len(text) + 1):
        for start in range(end):
            part = text[start:end]
            score = scores.get(part, unknown if end - start == 1 else -math.inf)
            if best[start][0] + score > best[end][0]:
                best[end] = (best[start][0] + score, [*best[start][1], part if part in scores else "<unk>"])
    path = best[-1][1]
    return [token for place, token in enumerate(path) if token != "<unk>" or path[place - 1 : place] != ["<unk>"]]


def merged(text, scores):
    """Byte pair encoding: the neighbours that give the token with the best score are joined, the first ones of equals."""
    parts = list(text)
    while True:
        joined = [scores.get(a + b, -math.inf) for a, b in itertools.pairwise(parts)]
        if not joined or max(joined) == -math.inf:
            return [part if part in scores else "<unk>" for part in parts]
        place = joined.index(max(joined))
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


@pytest.mark.parametrize("text", spm.TEXTS)
def test_unigram_takes_the_best_path(text):
    scores = {name: score for name, score, _ in spm.UNIGRAM_TOKENS}
    assert tokens_of(converted(), text) == best_path(normalized(text), scores)


@pytest.mark.parametrize("text", spm.TEXTS)
def test_bpe_merges_the_best_token_first(text):
    scores = {name: score for name, score, _ in spm.BPE_TOKENS}
    assert tokens_of(converted(tokens=spm.BPE_TOKENS, kind=spm.BPE), text) == merged(normalized(text), scores)


@pytest.mark.parametrize("kind, tokens", [(spm.UNIGRAM, spm.UNIGRAM_TOKENS), (spm.BPE, spm.BPE_TOKENS)])
def test_bytes_stand_for_unknown_characters(kind, tokens):
    tokenizer = converted(tokens=tokens, kind=kind, byte_fallback=True)
    assert tokenizer.encode("é").tokens == ["▁", "<0xC3>", "<0xA9>"]
    for text in ("the é film", "日本 good", "a"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_spaces_stay_where_the_model_keeps_them():
    kept = converted(tokens=spm.BPE_TOKENS, kind=spm.BPE, normalizer=spm.whole(4, 0))
    assert kept.encode(" a  b ").tokens == ["▁", "▁", "a", "▁", "▁", "b", "▁"]
    assert converted().encode(" a  b ").tokens == ["▁a", "▁", "b"]


def test_user_defined_symbols_always_win_and_others_never_match():
    tokens = [*spm.UNIGRAM_TOKENS, ("?", 0.0, spm.USER_DEFINED), ("s?", -0.1, spm.NORMAL), ("good", -0.1, spm.UNUSED)]
    assert converted(tokens=tokens).encode("was?a").tokens == ["▁was", "?", "a"]
    assert converted(tokens=tokens).encode("good").tokens == ["▁good"]
    special = [*spm.SPECIAL, ("aa", 0.0, spm.CONTROL)]
    assert tokens_of(converted(special=special), "aa") == ["▁a", "a"]


def test_tokens_across_words_are_found():
    tokens = [*spm.UNIGRAM_TOKENS, ("▁the▁film", -0.5, spm.NORMAL)]
    assert converted(tokens=tokens).encode("the film was").tokens == ["▁the▁film", "▁was"]


def test_a_table_of_ids_decides_the_ids():
    model = parse(spm.model([*spm.UNIGRAM_TOKENS, ("▁?", -3.0, spm.NORMAL), ("?", -4.0, spm.NORMAL)]), "x")
    vocabulary = {
        "</s>": 0,
        "<unk>": 1,
        "élan": 2,
        "▁film": 3,
        "▁": 4,
        "a": 5,
        "▁a": 6,
        "s": 7,
        "f": 8,
        "i": 9,
        "l": 10,
        "m": 11,
    }
    tokenizer = Tokenizer.from_str(json.dumps(with_vocabulary(model, vocabulary)))
    assert tokenizer.encode("film").ids == [3] and tokenizer.encode("a film").ids == [6, 3]
    # SentencePiece finds "▁?", which the table lacks: it is unknown, and its space no token
    assert tokenizer.encode("a ? films").ids == [6, 1, 3, 7]
    assert tokenizer.get_vocab() == vocabulary and tokenizer.decode([6, 3, 2]) == "a filmélan"
