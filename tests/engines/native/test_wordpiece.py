"""Token ids of the C code against those of the tokenizers library."""

import random
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE, WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, Whitespace
from tokenizers.processors import TemplateProcessing

import tiny
from niwaki.answers.label import Label
from niwaki.answers.tags import Tags
from niwaki.engines.native import wordpiece_structures as s
from niwaki.engines.native.wordpiece import Wordpiece
from niwaki.engines.predictor import Predictor
from selection import rest_slow

WORDS = [
    "un",
    "unable",
    "##able",
    "##a",
    "##b",
    "##le",
    "a",
    "b",
    "c",
    "x",
    "é",
    "ü",
    "##ü",
    "и",
    "##и",
    "good",
    "Good",
    "ß",
    ".",
    ",",
    "-",
    "[",
    "#",
    "“",
    "—",
    "€",
    "film",
    "##s",
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SETTINGS = [
    {},
    {"lowercase": False},
    {"strip_accents": True},
    {"strip_accents": False},
    {"lowercase": False, "strip_accents": True},
    {"clean_text": False},
    {"handle_chinese_chars": False},
]


def tokenizer_with(
    words=WORDS, prefix="##", most_signs=100, added=SPECIAL, pair="[CLS] $A [SEP] $B:1 [SEP]:1", **settings
) -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    tokenizer = Tokenizer(
        WordPiece(vocabulary, unk_token="[UNK]", continuing_subword_prefix=prefix, max_input_chars_per_word=most_signs)
    )
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(**settings), BertPreTokenizer()
    special = [(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", pair=pair, special_tokens=special)
    tokenizer.add_special_tokens(list(added))
    return tokenizer


def both(tokenizer: Tokenizer, inputs, max_tokens=32):
    """Ids and types by the C, and by the library; and what the C left to the library."""
    left = []

    def others(some):
        left.extend(some)
        return Label().encode(some, tokenizer, max_tokens)

    own = Wordpiece.of(tokenizer, max_tokens)
    assert own is not None
    return [
        [(rows.ids[one].tolist(), rows.types[one].tolist()) for one in range(len(rows.ids))]
        for rows in (own(inputs, others), Label().encode(inputs, tokenizer, max_tokens))
    ], left


def same(tokenizer, inputs, max_tokens=32):
    (ours, theirs), left = both(tokenizer, inputs, max_tokens)
    for given, one, other in zip(inputs, ours, theirs, strict=True):
        assert one == other, given
    return left


def test_ids_by_hand():
    """Marks 0 to 3, then the words: un 4, unable 5, ##able 6, ##a 7, a 10, b 11, . 22."""
    (ours, _), left = both(tokenizer_with(), ["unable a.", "UNA", "uncle", ("a", "b"), ""])
    assert ours == [
        ([2, 5, 10, 22, 3], [0] * 5),
        ([2, 4, 7, 3], [0] * 4),
        ([2, 1, 3], [0] * 3),  # nothing continues with c
        ([2, 10, 3, 11, 3], [0, 0, 0, 1, 1]),
        ([2, 3], [0, 0]),
    ]
    assert not left


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_character_matches_the_library(settings):
    """Each code point within a word, alone, and next to spaces; also those that the C code does not support."""
    signs = [
        chr(point)
        for point in (*range(0x2200), *range(0x2FF0, 0x3100), 0x4E00, 0xAC00, 0xFEFF, 0xFFFD, 0x1F600, 0x10FFFF)
    ]
    tokenizer = tokenizer_with(**settings)
    left = {one[1] for one in same(tokenizer, [f"a{sign}b {sign} {sign}a" for sign in signs])}
    assert all(sign in left for sign in "\u0301\u3000\u4e00\U0001f600")
    assert {sign for sign in left if sign < "\u0530"} - {"İ"} == {
        sign for sign in signs if sign < "\u0530" and unicodedata.category(sign)[0] == "M"
    }


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", rest_slow(range(3), [0]))
def test_random_texts_match_the_library(settings, seed):
    draw = random.Random(seed)
    parts = [
        *"abcxABCX.,- -[]#\t\n\x00\x7f\u00a0éÉüÜИиßßİ“—€",
        "un",
        "able",
        "Unable",
        "good",
        "Good",
        "film",
        "films",
        "日",
        "\u0301",
        "[SEP]",
        "[CLS",
        "  ",
    ]
    texts = ["".join(draw.choices(parts, k=draw.randint(0, 30))) for _ in range(1500)]
    pairs = list(zip(texts, texts[::-1], strict=True))
    mixed = [draw.choice(one) for one in zip(texts, pairs, strict=True)]
    for inputs in (texts, pairs, mixed):
        left = same(tokenizer_with(**settings), inputs, max_tokens=draw.randint(13, 40))
        assert len(left) < len(inputs)


def test_pairs_are_truncated_like_the_library():
    tokenizer = tokenizer_with()
    inputs = [("a " * first, "b " * second) for first in range(0, 40, 1) for second in range(0, 40, 3)]
    for max_tokens in (13, 14, 20, 33):
        assert not same(tokenizer, inputs, max_tokens)


@pytest.mark.parametrize("most", [1, 2, 5, 100, 340])
def test_too_long_words_become_unknown(most):
    tokenizer = tokenizer_with(most_signs=most)
    texts = [
        letter * count for letter in ("a", "é", "a\x00") for count in (1, most - 1, most, most + 1, 3 * most, 5000)
    ]
    assert not same(tokenizer, [*texts, *(f"{text}. {text}" for text in texts)], max_tokens=40)


def test_huge_and_many_texts_match_the_library():
    texts = ["a" * 100_000, "x-" * 50_000, "unable " * 10_000, "é" * 50_000, "a", ""]
    assert not same(tokenizer_with(), texts)
    assert not same(tokenizer_with(), list(zip(texts, texts[::-1], strict=True)))
    assert not same(tokenizer_with(), ["unable a", ("b", "film")] * 5000)
    assert same(tokenizer_with(), []) == []


def test_prefixes_and_special_tokens_match_the_library():
    for prefix in ("##", "", "@@", "é", "a"):
        words = sorted({*"abcé", "ab", *(f"{prefix}{end}" for end in ("a", "b", "ab", "é"))})
        same(tokenizer_with(words=words, prefix=prefix), ["ab abab éa aab c", "abc", f"{prefix}a", prefix])
    for pair in ("$A $B", "[CLS]:1 [SEP] $A:1 [SEP] [SEP] $B [CLS]"):
        same(tokenizer_with(pair=pair), ["a b", ("a", "b c"), ("a " * 50, "b")])
    assert same(tokenizer_with(), ["a[SEP]b", "[sep] a", "a [CLS", "[[SEP]"]) == ["a[SEP]b", "[[SEP]"]


def test_token_types_of_pairs_without_a_post_processor():
    """Whoever reads a pair, the C or the library: the sign that the C has no table for changes no type."""
    bare = tokenizer_with()
    bare.post_processor = None
    same(bare, ["a film", ("a film", "the end"), ("a film", "the end 中")])


def test_special_tokens_inside_a_text_are_found():
    added = [
        *SPECIAL,
        AddedToken("good", normalized=False),
        AddedToken("é", normalized=False, lstrip=True),
        AddedToken("日本", normalized=False),
    ]
    left = same(tokenizer_with(added=added), ["a good film", "a Good film", "xgoods", "a é", "a É b", "goo", "日本"])
    assert left == ["a good film", "xgoods", "a é", "日本"]


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "model", BPE()),
        lambda one: setattr(one, "model", WordPiece({"a": 0}, unk_token="[UNK]")),
        lambda one: setattr(one, "model", WordPiece({"[UNK]": 0}, unk_token="[UNK]", max_input_chars_per_word=341)),
        lambda one: setattr(one, "normalizer", normalizers.Lowercase()),
        lambda one: setattr(one, "normalizer", normalizers.Sequence([BertNormalizer()])),
        lambda one: setattr(one, "pre_tokenizer", Whitespace()),
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.Sequence([BertPreTokenizer()])),
        lambda one: one.add_tokens([AddedToken("É", normalized=True)]),
        lambda one: setattr(
            one,
            "post_processor",
            TemplateProcessing(single="[CLS] [CLS] [CLS] [CLS] [CLS] $A", pair="$A $B", special_tokens=[("[CLS]", 2)]),
        ),
        lambda one: setattr(one, "post_processor", TemplateProcessing(single="$A", pair="$B $A", special_tokens=[])),
        lambda one: setattr(
            one, "post_processor", TemplateProcessing(single="$A:256", pair="$A $B", special_tokens=[])
        ),
    ],
)
def test_unsupported_tokenizers_use_the_library(change):
    tokenizer = tokenizer_with()
    change(tokenizer)
    assert Wordpiece.of(tokenizer, 32) is None


def test_short_maximum_lengths_use_the_library():
    assert Wordpiece.of(tokenizer_with(), 3 * s.MAX_SPECIAL) is None


def test_several_threads_may_encode_at_once():
    own = Wordpiece.of(tokenizer_with(), 32)
    texts = [["unable a film. " * (1 + number % 7)] * 200 for number in range(64)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda some: own(some, None).ids.values, texts))
    for some, ids in zip(texts, found, strict=True):
        assert np.array_equal(ids, Label().encode(some, tokenizer_with(), 32).ids.values)


def test_predictor_uses_it_for_plain_texts(tmp_path):
    predictor = Predictor(tiny.deployed(tiny.model("bert"), tmp_path / "label"))
    assert isinstance(predictor.encoder._wordpiece, Wordpiece)
    texts = [text for text, _ in tiny.sentences(300)] + ["日本 film", "[SEP]"]
    rows, theirs = (
        predictor.tokenize(texts),
        predictor.answer_type.encode(texts, predictor.encoder.tokenizer, predictor.max_tokens),
    )
    assert np.array_equal(rows.ids.values, theirs.ids.values) and np.array_equal(rows.ids.starts, theirs.ids.starts)
    assert np.array_equal(rows.types.values, theirs.types.values) and np.array_equal(
        rows.input_index, theirs.input_index
    )
    tagging = tiny.model("bert", head="TokenClassification", niwaki_answer=Tags().to_json())
    assert Predictor(tiny.deployed(tagging, tmp_path / "tags")).encoder._wordpiece is None
