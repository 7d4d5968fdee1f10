"""Reads a SentencePiece model (spiece.model, sentencepiece.bpe.model, tokenizer.model, *.spm), checked before anything uses it.

The file is a protocol buffer. Its fields that matter here are declared below, in a pool of descriptors of their own: other packages
register the complete message under the same name. Nothing of a model is run: a training sample or a denormalizer in it is skipped.
"""

import base64
import struct
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.strict_json import read_bytes
from niwaki.tokenization.tokenizer_rules import MAX_BYTES, MAX_TEXT, MAX_TOKENS, check_charsmap

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # types of tokens
UNIGRAM, BPE = 1, 2  # types of models; 3 and 4 are whole words and characters
SPACE = "▁"
MAX_SCORE = 1e10
# message: (name, number, type, default or None where it repeats or is another message)
FIELDS: dict[str, list[tuple[str, int, str, str | None]]] = {
    "Token": [("text", 1, "STRING", ""), ("score", 2, "FLOAT", "0"), ("type", 3, "INT32", "1")],
    "Trainer": [
        ("model_type", 3, "INT32", "1"),
        ("treat_whitespace_as_suffix", 24, "BOOL", "false"),
        ("byte_fallback", 35, "BOOL", "false"),
        ("unk_id", 40, "INT32", "0"),
    ],
    "Normalizer": [
        ("precompiled_charsmap", 2, "BYTES", ""),
        ("add_dummy_prefix", 3, "BOOL", "true"),
        ("remove_extra_whitespaces", 4, "BOOL", "true"),
        ("escape_whitespaces", 5, "BOOL", "true"),
    ],
    "Model": [("tokens", 1, "Token", None), ("trainer", 2, "Trainer", ""), ("normalizer", 3, "Normalizer", "")],
}


@dataclass(frozen=True)
class Token:
    text: str
    score: float
    kind: int


@dataclass(frozen=True)
class SentencePieceModel:
    tokens: Sequence[Token]
    kind: int  # UNIGRAM or BPE
    byte_fallback: bool
    charsmap: bytes  # replacements of characters; empty for none
    adds_prefix: bool  # a space before the text
    removes_spaces: bool  # at both ends, and all but one of several

    @property
    def unknown(self) -> int:
        return next(number for number, token in enumerate(self.tokens) if token.kind == UNKNOWN)


def read_model(path: Path) -> SentencePieceModel:
    return parse(read_bytes(path, MAX_BYTES), str(path))


def parse(data: bytes, where: str) -> SentencePieceModel:
    """The content of a model; InputError in one line if it is damaged or of a kind that is not supported."""
    from google.protobuf.message import DecodeError

    try:
        model = _message_class().FromString(data)
        tokens = [Token(token.text, token.score, token.type) for token in model.tokens]
        _check(tokens, model.normalizer.precompiled_charsmap)
        if not model.normalizer.escape_whitespaces:
            raise ValueError("it does not mark spaces, which every published model does")
    except (DecodeError, ValueError, UnicodeDecodeError, struct.error) as error:
        raise InputError(f"{where}: is no SentencePiece model, or a damaged one ({error})") from None
    trainer, normalizer = model.trainer, model.normalizer
    if trainer.model_type not in (UNIGRAM, BPE) or trainer.treat_whitespace_as_suffix:
        raise InputError(
            f"{where}: is a SentencePiece model of words or characters, or with spaces behind words; unigram and BPE models "
            "with spaces before words are supported"
        )
    return SentencePieceModel(
        tokens,
        trainer.model_type,
        trainer.byte_fallback,
        normalizer.precompiled_charsmap,
        normalizer.add_dummy_prefix,
        normalizer.remove_extra_whitespaces,
    )


def _check(tokens: list[Token], charsmap: bytes) -> None:
    if not 1 <= len(tokens) <= MAX_TOKENS:
        raise ValueError(f"it has {len(tokens)} tokens; 1 to {MAX_TOKENS} are accepted")
    texts = {token.text for token in tokens}
    if len(texts) != len(tokens):
        raise ValueError("two tokens are the same")
    if "" in texts or max(map(len, texts)) > MAX_TEXT:
        raise ValueError(f"a token is empty, or has more than {MAX_TEXT} characters")
    if not all(abs(token.score) <= MAX_SCORE for token in tokens):  # NaN is not
        raise ValueError("a token has no score, or one that is too large")
    if sum(token.kind == UNKNOWN for token in tokens) != 1:
        raise ValueError("it must have one token for what is unknown")
    if charsmap:
        check_charsmap(base64.b64encode(charsmap).decode())


@cache
def _message_class() -> typing.Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="niwaki_sentencepiece.proto", package="niwaki", syntax="proto2")
    for message, fields in FIELDS.items():
        described = file.message_type.add(name=message)
        for name, number, kind, default in fields:
            field = described.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL)
            if kind in FIELDS:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".niwaki.{kind}"
                field.label = kinds.LABEL_REPEATED if default is None else kinds.LABEL_OPTIONAL
            else:
                field.type = getattr(kinds, f"TYPE_{kind}")
                field.default_value = default or ""
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("niwaki.Model"))
