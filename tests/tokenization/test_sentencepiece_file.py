"""SentencePiece models are read as they are, and damaged or unknown ones are rejected in one line."""

import pytest

import spm
from niwaki.core.errors import InputError
from niwaki.tokenization.sentencepiece_file import BPE, BYTE, CONTROL, UNIGRAM, UNKNOWN, parse, read_model


def test_tokens_scores_and_settings_are_read():
    found = parse(spm.model(), "x")
    assert found.kind == UNIGRAM and found.unknown == 0 and not found.byte_fallback
    assert found.adds_prefix and found.removes_spaces and found.charsmap == b""
    assert [token.kind for token in found.tokens[:3]] == [UNKNOWN, CONTROL, CONTROL]
    assert found.tokens[3].text == "▁" and found.tokens[3].score == pytest.approx(-6.0)


def test_settings_other_than_the_defaults_are_read(tmp_path):
    path = tmp_path / "tokenizer.model"
    path.write_bytes(
        spm.model(spm.BPE_TOKENS, spm.BPE, byte_fallback=True, normalizer=spm.whole(3, 0) + spm.whole(4, 0))
    )
    found = read_model(path)
    assert found.kind == BPE and found.byte_fallback and not found.adds_prefix and not found.removes_spaces
    assert sum(token.kind == BYTE for token in found.tokens) == 256


def test_unknown_fields_are_skipped():
    assert parse(spm.model() + spm.field(4, b"self-test samples"), "x") == parse(spm.model(), "x")


@pytest.mark.parametrize(
    "data, fault",
    [
        (b"", "0 tokens"),
        (b"\xff" * 40, "damaged"),
        (spm.model()[:200], "damaged"),
        (spm.model([("a", -1.0, 1), ("a", -2.0, 1)]), "two tokens are the same"),
        (spm.model([("", -1.0, 1)]), "a token is empty"),
        (spm.model([("a" * 3000, -1.0, 1)]), "more than 2000 characters"),
        (spm.model([("a", float("nan"), 1)]), "no score"),
        (spm.model([("a", float("inf"), 1)]), "no score"),
        (spm.model(special=[]), "one token for what is unknown"),
        (spm.model(special=[*spm.SPECIAL, ("<unk2>", 0.0, spm.UNKNOWN)]), "one token for what is unknown"),
        (spm.model(kind=3), "words or characters"),
        (spm.model(kind=4), "words or characters"),
        (spm.model(trainer=[spm.whole(24, 1)]), "spaces behind words"),
        (spm.model(normalizer=spm.whole(5, 0)), "does not mark spaces"),
        (spm.model(normalizer=spm.field(2, b"\xff\xff\xff\xff ")), "its table is damaged"),
        (spm.model(normalizer=spm.field(2, b"\x01")), "damaged"),
    ],
)
def test_damaged_models_are_rejected_in_one_line(data, fault):
    with pytest.raises(InputError, match=fault) as caught:
        parse(data, "spiece.model")
    assert "\n" not in str(caught.value) and str(caught.value).startswith("spiece.model: ")
