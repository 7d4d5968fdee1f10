"""Bytes and characters under ids that follow from them."""

from tokenizers import AddedToken

from niwaki.tokenization.byte_and_character import byte_signs, byte_tokenizer, character_tokenizer


def test_bytes_get_their_value_and_the_first_id():
    tokenizer = byte_tokenizer(3, [(AddedToken("<pad>"), 0), (AddedToken("</s>"), 1), (AddedToken("<x>"), 259)])
    assert tokenizer.encode("é a").ids == [3 + byte for byte in "é a".encode()]
    assert (
        tokenizer.encode("a<x>b").ids == [100, 259, 101]
        and tokenizer.decode([3 + byte for byte in "日 é".encode()]) == "日 é"
    )
    assert len(set(byte_signs().values())) == 256


def test_characters_get_their_code_points(monkeypatch):
    monkeypatch.setattr("niwaki.tokenization.byte_and_character.CODE_POINTS", 0x10000)  # all take seconds
    tokenizer = character_tokenizer(ord, [(AddedToken("\ue000"), 0xE000)])
    text = "é 日\n"
    assert (
        tokenizer.encode(text).ids == [ord(one) for one in text]
        and tokenizer.decode([ord(one) for one in text]) == text
    )
    assert tokenizer.encode("\u0378").ids == [0xFFFD]  # not assigned
