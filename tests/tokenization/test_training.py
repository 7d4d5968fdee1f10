"""Tokenizers made from texts: what comes back is what went in, marks are never read out of a text, same texts same bytes."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tokenizers import Tokenizer

from niwaki.core.errors import InputError, UsageError
from niwaki.tokenization.tokenizer_rules import read_text
from niwaki.tokenization.training import CONTINUES, SPECIAL_TOKENS, SPLITS, make

TEXTS = [
    "the old man fed the grey cats near the old mill",
    "die alte Frau fütterte die grauen Katzen, nahe der Mühle.",
    "le vieil homme a nourri les chats gris du moulin",
    "\u65e7\u3044\u6c34\u8eca\u5c0f\u5c4b 😀👩‍👩‍👧 e\u0301 \u00e9",
] * 3
ODD = [
    "",
    " ",
    "  two  spaces  ",
    "\tline\none\r\ntwo\n\n",
    "emoji 👩‍👩‍👧‍👦🏽 and flags 🇩🇪",
    "\u4e2d\u6587\u8a5e\u5f59 \ud55c\uad6d\uc5b4 \u0e44\u0e17\u0e22",
    "e\u0301 is not \u00e9, nor \u212b \u00c5",
    "\u202eright to left\u202c \u05d0\u05d1\u05d2 \u200b zero",
    "\x00\x07 control \x7f",
    "[PAD] [BOS] [EOS] [UNK] x[EOS]y ##ing ###",
    "don't (stop) — «ça»…",
]


def trained(split, vocab_size=400, texts=TEXTS):
    return Tokenizer.from_str(make(texts, split, vocab_size))


def again(tokenizer, text):
    return tokenizer.decode(tokenizer.encode(text, add_special_tokens=False).ids, skip_special_tokens=False)


@pytest.mark.parametrize("split", SPLITS)
def test_the_four_special_tokens_are_first_and_never_found_in_texts(split):
    tokenizer = trained(split)
    assert [tokenizer.id_to_token(number) for number in range(4)] == list(SPECIAL_TOKENS)
    ids = tokenizer.encode("[PAD] [BOS] [EOS] x[EOS]y").ids
    assert ids and not {0, 1, 2} & set(ids)
    assert tokenizer.encode("").ids == []  # nothing is added


@pytest.mark.parametrize("split", SPLITS)
def test_a_trained_tokenizer_passes_the_rules_for_untrusted_files(split, tmp_path):
    (tmp_path / "tokenizer.json").write_text(make(TEXTS, split, 400), encoding="utf-8")
    read = Tokenizer.from_str(read_text(tmp_path / "tokenizer.json"))
    assert [read.encode(text).ids for text in ODD] == [trained(split).encode(text).ids for text in ODD]


@pytest.mark.parametrize("split", ["bpe", "bytes"])
@pytest.mark.parametrize("text", ODD)
def test_bytes_write_any_text(split, text):
    assert again(trained(split), text) == text


TRAINED = {split: trained(split) for split in ("bpe", "bytes", "words", "wordpiece")}


@given(some.text())
def test_any_text_comes_back_from_bytes_and_never_holds_a_mark(text):
    for split, tokenizer in TRAINED.items():
        assert not {0, 1, 2} & set(tokenizer.encode(text).ids)
        assert again(tokenizer, text) == text or split not in ("bpe", "bytes")


@pytest.mark.parametrize("text", ODD)
def test_characters_write_any_text_of_seen_characters(text):
    assert again(trained("characters", texts=[*TEXTS, text]), text) == text


def test_a_character_that_was_not_seen_is_unknown():
    tokenizer = trained("characters", texts=["ab"])
    assert tokenizer.encode("axb").ids == [4, 3, 5]


@pytest.mark.parametrize("split", ["words", "wordpiece"])
def test_words_come_back_with_single_spaces(split):
    for text in TEXTS:
        assert again(trained(split), text) == text
    assert again(trained(split), "  the\n old\t\tmill ") == "the old mill"


def test_words_are_numbered_by_frequency_up_to_the_vocabulary_size():
    tokenizer = trained("words", vocab_size=6, texts=["b a b c", "a b"])
    assert tokenizer.get_vocab() == {**{mark: number for number, mark in enumerate(SPECIAL_TOKENS)}, "b": 4, "a": 5}
    assert tokenizer.encode("a b c").ids == [5, 4, 3]


def test_wordpiece_knows_every_character_at_the_start_of_words_and_inside():
    tokenizer = trained("wordpiece", 40, ["lower lowest low", "slow slower"])
    vocab_size = tokenizer.encode("lowlow wols").tokens
    assert vocab_size[0].startswith("low") and vocab_size[1].startswith(CONTINUES)
    assert "[UNK]" not in vocab_size and tokenizer.decode(tokenizer.encode("lowlow wols").ids) == "lowlow wols"
    assert "[UNK]" in tokenizer.encode("löw").tokens


def test_bytes_are_always_the_same_and_bpe_merges_what_comes_often():
    assert len(trained("bytes", 9).get_vocab()) == 260 and make(["a"], "bytes", 9) == make(TEXTS, "bytes", 500)
    tokenizer = trained("bpe", 270, ["ababab ababab"] * 5)
    assert len(tokenizer.encode("ababab").ids) < 6 == len(b"ababab")


def test_a_number_that_the_texts_cannot_fill_gives_fewer():
    assert len(trained("bpe", 5000).get_vocab()) < 1000
    assert len(trained("bpe", 300).get_vocab()) == 300
    assert len(trained("wordpiece", 130).get_vocab()) == 130


ELSEWHERE = "import hashlib, json, sys; from niwaki.tokenization.training import make; print(hashlib.sha256(make(json.loads(sys.argv[1]), sys.argv[2], 200 if sys.argv[2] != 'bpe' else 300).encode()).hexdigest())"


def test_the_same_texts_give_the_same_bytes_in_every_process():
    for split in ("wordpiece", "bpe"):  # the library draws the order of its tables anew in each
        statistics = {
            subprocess.check_output([sys.executable, "-c", ELSEWHERE, json.dumps(TEXTS), split]) for _ in range(3)
        }
        assert len(statistics) == 1, split


@pytest.mark.parametrize("split", SPLITS)
def test_texts_may_come_one_by_one(split):
    assert make((text for text in TEXTS), split, 400) == make(TEXTS, split, 400)


def test_no_piece_is_longer_than_a_file_may_hold():
    long = "=" * 5000
    for split in SPLITS:
        tokenizer = trained(split, 400, [f"{long} a", f"{long} b"])
        assert max(map(len, tokenizer.get_vocab())) <= 200


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    "texts, vocab_size, message",
    [
        ([], 400, "no word"),
        (["", " \n"], 400, "no word"),
        (["a", "\ud800"], 400, "text 2 is not Unicode"),
        (["x" * (9 << 20)], 400, "text 1 is longer"),
        (TEXTS, 4, "vocab_size: must be"),
        (TEXTS, 10**9, "vocab_size: must be"),
        (TEXTS, 40.5, "vocab_size: must be"),
        (TEXTS, True, "vocab_size: must be"),
    ],
)
def test_invalid_arguments_are_rejected_in_one_line(split, texts, vocab_size, message):
    with pytest.raises(InputError, match=message) as caught:
        make(texts, split, vocab_size)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("split, least", [("bpe", 260), ("wordpiece", None)])
def test_too_small_a_vocabulary_is_rejected_with_the_minimum(split, least):
    with pytest.raises(InputError, match="too few") as caught:
        make(TEXTS, split, 30)
    enough = int(str(caught.value).rpartition(" ")[2])
    assert least in (None, enough)
    assert len(trained(split, enough).get_vocab()) == enough


@pytest.mark.parametrize("texts, split", [("one text", "bpe"), ([b"bytes"], "bpe"), ([3], "words"), (["a"], "bep")])
def test_wrong_calls(texts, split):
    with pytest.raises(UsageError):
        make(texts, split, 400)
