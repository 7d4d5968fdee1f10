"""Rules for tokenizers: every kind that the library itself makes is taken; hostile ones are in tests/hostile."""

import base64
import json
import struct

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece
from tokenizers.trainers import BpeTrainer, UnigramTrainer, WordLevelTrainer, WordPieceTrainer

import tiny
from niwaki.core.errors import InputError
from niwaki.tokenization.tokenizer_rules import check, read_text

TEXTS = [text for text, _ in tiny.sentences(200)]
SPECIAL_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]


def byte_level_bpe():
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(
        TEXTS,
        BpeTrainer(vocab_size=400, special_tokens=SPECIAL_TOKENS, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()),
    )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def prefixed_bpe():
    tokenizer = Tokenizer(BPE(unk_token="<unk>", continuing_subword_prefix="##"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.Punctuation()])
    tokenizer.train_from_iterator(
        TEXTS, BpeTrainer(vocab_size=300, special_tokens=SPECIAL_TOKENS, continuing_subword_prefix="##")
    )
    return tokenizer


def unigram():
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace("``", '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        TEXTS, UnigramTrainer(vocab_size=120, special_tokens=SPECIAL_TOKENS, unk_token="<unk>")
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def word_level():
    tokenizer = Tokenizer(WordLevel(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(TEXTS, WordLevelTrainer(special_tokens=SPECIAL_TOKENS))
    return tokenizer


def word_piece():
    tokenizer = Tokenizer(WordPiece(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(TEXTS, WordPieceTrainer(vocab_size=200, special_tokens=SPECIAL_TOKENS))
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.enable_padding(length=128, pad_token="<pad>", pad_id=1)
    tokenizer.enable_truncation(128)
    tokenizer.add_tokens([AddedToken("<new>", single_word=True)])
    return tokenizer


@pytest.mark.parametrize("make", [byte_level_bpe, prefixed_bpe, unigram, word_level, word_piece])
def test_what_the_library_makes_is_taken_and_read_the_same(make, tmp_path):
    tokenizer = make()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    again = Tokenizer.from_str(read_text(tmp_path / "tokenizer.json"))
    assert [again.encode(text).ids for text in TEXTS[:20]] == [tokenizer.encode(text).ids for text in TEXTS[:20]]


def test_a_table_of_replacements_of_the_right_form_is_taken():
    blob = struct.pack("<I", 1024) + bytes(1024) + b"a\0b\0"
    table = json.loads(word_level().to_str())
    table["normalizer"] = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}
    check(table, "x")


@pytest.mark.parametrize(
    "section, value",
    [
        ("normalizer", {"type": "Replace", "pattern": {"String": ""}, "content": "x"}),
        ("normalizer", {"type": "Replace", "pattern": {"Regex": "."}, "content": "x" * 65}),
        (  # which matches between characters: each part doubles a text
            "normalizer",
            {
                "type": "Sequence",
                "normalizers": [{"type": "Replace", "pattern": {"Regex": "(?=[a-z ])"}, "content": " "}] * 7,
            },
        ),
        ("normalizer", {"type": "Prepend", "prepend": "x" * 5000}),
        ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "!!!"}),
        ("normalizer", "Lowercase"),
        ("pre_tokenizer", {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}] * 501}),
        ("pre_tokenizer", {"type": "FixedLength", "length": 0}),
        ("added_tokens", [{"id": 9, "content": ""}]),
        ("added_tokens", [{"id": -1, "content": "x"}]),
        ("truncation", {"max_length": 10**12, "stride": 0}),
        ("model", {"type": "Unigram", "unk_id": 5, "vocab": [["a", 0.0]]}),
        ("model", {"type": "Unigram", "unk_id": 0, "vocab": [["a"]]}),
        ("model", {"type": "WordPiece", "unk_token": "a", "vocab": {"a": 0, "b": 0}}),
        ("model", {"type": "WordPiece", "unk_token": "a", "vocab": {"a": True}}),
        ("model", {"type": "BPE", "vocab": {"a": 0}, "merges": [["a"]]}),
        ("model", {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "dropout": 0.5}),
        ("model", {}),
        ("plugin", {}),
    ],
)
def test_an_invalid_file_is_rejected(section, value):
    table = json.loads(word_level().to_str())
    with pytest.raises(InputError) as caught:
        check({**table, section: value}, "tokenizer.json")
    assert str(caught.value).startswith("tokenizer.json: ") and "\n" not in str(caught.value)
