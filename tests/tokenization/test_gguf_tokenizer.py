"""Tokenizers in GGUF files: ids by hand, what is not supported by name."""

import json

import pytest
from tokenizers import Tokenizer

import spm
from niwaki.core.errors import InputError
from niwaki.tokenization.gguf_tokenizer import PREFIX, special_tokens, tokenizer_json
from niwaki.tokenization.tokenizer_rules import check

TOKENS = ["<s>", "<end>", *"abc12", "Ġ", "ab", "Ġab", "Ã", "©"]
BYTE_LEVEL = {
    "model": "gpt2",
    "pre": "smollm",
    "tokens": TOKENS,
    "merges": ["a b", "Ġ ab"],
    "token_type": [3, 3, *[1] * (len(TOKENS) - 2)],
    "bos_token_id": 0,
    "eos_token_id": 1,
}


def metadata(values, **more):
    return {f"{PREFIX}{name}": value for name, value in {**values, **more}.items()}


def tokenizer(values):
    check(tokenizer_json(values, "x"), "x")  # as niwaki checks every tokenizer.json
    return Tokenizer.from_str(json.dumps(tokenizer_json(values, "x")))


def test_byte_level_tokens_are_merged_in_the_order_of_the_file():
    found = tokenizer(metadata(BYTE_LEVEL))
    assert found.encode("ab ab<end>éc").tokens == ["ab", "Ġab", "<end>", "Ã", "©", "c"]
    assert found.encode("12").tokens == ["1", "2"]  # each digit by itself
    assert found.decode(found.encode("ab éc").ids) == "ab éc"


def test_a_first_token_is_added_where_the_file_says_so():
    found = tokenizer(metadata(BYTE_LEVEL, add_bos_token=True))
    assert found.encode("ab").tokens == ["<s>", "ab"] and found.encode("ab", add_special_tokens=False).tokens == ["ab"]
    assert special_tokens(metadata(BYTE_LEVEL), "x") == {"bos_token": "<s>", "eos_token": "<end>"}


def test_scores_of_sentencepiece_become_merges():
    listed = [*spm.SPECIAL, *spm.BPE_TOKENS, *((f"<0x{byte:02X}>", 0.0, spm.BYTE) for byte in range(256))]
    values = {
        "model": "llama",
        "tokens": [text for text, _, _ in listed],
        "scores": [score for _, score, _ in listed],
        "token_type": [kind for _, _, kind in listed],
        "bos_token_id": 1,
        "unknown_token_id": 0,
    }
    found = tokenizer(metadata(values))
    assert found.encode("the good film").tokens == ["<s>", "▁the", "▁good", "▁film"]
    assert found.encode("é").tokens == ["<s>", "▁", "<0xC3>", "<0xA9>"]
    assert tokenizer(metadata(values, add_bos_token=False)).encode("oo").tokens == ["▁", "oo"]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"model": "bert"}, "a tokenizer of kind 'bert', which is not read"),
        (
            {"pre": "poro-chat"},
            "splits texts as 'poro-chat', which is not read; take a file with one of: gpt-2, smollm",
        ),
        ({"merges": ["a b c"]}, "a merge that is not of two tokens to one"),
        ({"merges": ["a 1"]}, "a merge that is not of two tokens to one"),
        ({"tokens": ["a", "a"]}, "lists a token twice"),
        ({"tokens": 3}, "has no list of tokens"),
        ({"token_type": [1]}, "another number of types than of tokens"),
        ({"bos_token_id": 99, "add_bos_token": True}, "a special token by an id that no token has"),
        ({"model": "llama"}, "has no score for each token"),
    ],
)
def test_other_tokenizers_are_rejected_by_name(more, problem):
    with pytest.raises(InputError, match=problem):
        tokenizer_json(metadata(BYTE_LEVEL, **more), "x.gguf")
