"""A tokenizer's files by rule, before any library reads them: sizes, known parts, patterns that end, ids that fit.

The tokenizers library trusts its file: a table that points nowhere ends in a panic, a pattern with nested repeats in
minutes, a chain of replacements in all the memory there is. And transformers takes keys of tokenizer_config.json for
names of classes and files. No torch here: deployments read tokenizers too.
"""

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.tokenization import tokenizing
from niwaki.tokenization.known_parts import MODELS, PARTS, SECTIONS
from niwaki.tokenization.pattern_probe import slow_pattern
from niwaki.tokenization.patterns import fault_in_pattern, is_published

MAX_BYTES, MAX_VALUES = 48 << 20, 2_000_000
MAX_TOKENS, MAX_ADDED_TOKENS, MAX_ID = 1_000_000, 50_000, 10_000_000
MAX_PARTS, MAX_DEPTH, MAX_TEXT = 500, 12, 2000
MAX_GROWTH = 64  # times that normalizers may lengthen a text


def read_text(path: Path) -> str:
    """The text of a tokenizer.json that keeps the rules; what is read is what was checked."""
    data = strict_json.read_bytes(path, MAX_BYTES)
    check(strict_json.parse(data, str(path), MAX_VALUES), str(path))
    return data.decode("utf-8")


def check(value: object, where: str) -> None:
    try:
        _check(value)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    except (TypeError, AttributeError, KeyError, IndexError, struct.error, binascii.Error) as error:
        raise InputError(f"{where}: is not of the form of a tokenizer ({type(error).__name__}: {error})") from None


def _check(value: object) -> None:
    if not isinstance(value, dict) or not isinstance(value.get("model"), dict):
        raise ValueError("must be a table with a model")
    unknown = sorted(set(value) - SECTIONS)
    if unknown:
        raise ValueError(f"section '{unknown[0][:60]}' is not known")
    _check_model(value["model"])
    _check_added(value.get("added_tokens") or [])
    _check_lengths(value.get("padding"), value.get("truncation"))
    growth, parts_of = 1.0, {section: list(_parts(value.get(section))) for section in PARTS}
    for section, known in PARTS.items():
        parts = parts_of[section]
        if len(parts) > MAX_PARTS:
            raise ValueError(f"{section} has more than {MAX_PARTS} parts")
        for part in parts:
            _check_part(section, part, known)
            growth *= _growth(part) if section == "normalizer" else 1
    if growth > MAX_GROWTH:
        raise ValueError(f"its normalizer may make a text {growth:.3g} times as long, more than {MAX_GROWTH} times")
    _check_time([part["pattern"]["Regex"] for parts in parts_of.values() for part in parts if _has_regex(part)])


def _check_time(patterns: list[str]) -> None:
    """Patterns that are not well known are tried out, and texts tokenized under a time limit from now on."""
    own = [pattern for pattern in dict.fromkeys(patterns) if not is_published(pattern)]
    slow = slow_pattern(own) if own else None
    if slow is not None:
        raise ValueError(
            f"pattern {slow[:60]!r} takes more than a second on short texts; write it so that no two repeats match the same characters"
        )
    for pattern in own:
        tokenizing.limit_time(pattern)


def _has_regex(part: Json) -> bool:
    return isinstance(part.get("pattern"), dict) and "Regex" in part["pattern"]


def _parts(value: object, depth: int = 0) -> Iterator[Json]:
    """A part and those inside it."""
    if value is None:
        return
    if depth > MAX_DEPTH or not isinstance(value, dict):
        raise ValueError("its parts must be tables, not nested deep")
    yield value
    for key in ("normalizers", "pretokenizers", "processors", "decoders"):
        for inner in value.get(key) or []:
            yield from _parts(inner, depth + 1)


def _check_part(section: str, part: Json, known: set[str]) -> None:
    if part.get("type") not in known:
        raise ValueError(f"{section} '{str(part.get('type'))[:60]}' is not known")
    for key, item in part.items():
        if isinstance(item, str) and len(item) > MAX_TEXT and key != "precompiled_charsmap":
            raise ValueError(f"{section} {part['type']}: '{key}' has more than {MAX_TEXT} characters")
    pattern = part.get("pattern")
    if isinstance(pattern, dict):
        _check_pattern(section, pattern)
    if part["type"] == "Precompiled":
        check_charsmap(part["precompiled_charsmap"])
    if part["type"] == "TemplateProcessing":
        _check_template(part)
    if part["type"] == "FixedLength" and not 1 <= part.get("length", 1) <= 10_000:
        raise ValueError("pre_tokenizer FixedLength: its length must be 1 to 10000")


def _check_pattern(section: str, pattern: Json) -> None:
    expression = pattern.get("Regex", pattern.get("String"))
    if not isinstance(expression, str) or not expression:
        raise ValueError(f"{section}: a pattern must be a text that is not empty")
    fault = fault_in_pattern(expression) if "Regex" in pattern else None
    if section == "decoder" and "Regex" in pattern and not is_published(expression):
        fault = (
            "is not a published one, which a decoder's must be"  # what a model writes is decoded without a time limit
        )
    if fault:
        raise ValueError(f"{section}: pattern {expression[:60]!r} {fault}")


def _growth(part: Json) -> float:
    """How many times as long the part may make a text. A pattern may match between all characters, but for published ones, which match
    one or more."""
    if part["type"] == "Prepend":
        return 1 + len(part["prepend"]) / 8
    if part["type"] != "Replace":
        return 1.0
    content, pattern = len(part["content"]), part["pattern"]
    if "String" in pattern:
        return max(1.0, content / len(pattern["String"]))
    return max(1.0, content) if is_published(pattern["Regex"]) else 1.0 + content


def check_charsmap(text: str) -> None:
    """Four bytes that say how long the trie is, the trie in units of four, then the replacements as text."""
    data = base64.b64decode(text, validate=True)
    (size,) = struct.unpack("<I", data[:4])
    if size % 4 or not 4 <= size <= len(data) - 4:
        raise ValueError("normalizer Precompiled: its table is damaged")
    data[4 + size :].decode("utf-8")


def _check_template(part: Json) -> None:
    """Every special token of the template is in its table, with as many ids as tokens."""
    special_tokens = part.get("special_tokens") or {}
    for form in (part.get("single") or [], part.get("pair") or []):
        if len(form) > 64:
            raise ValueError("post_processor TemplateProcessing: a template has more than 64 places")
        for place in form:
            mark = place["SpecialToken"]["id"] if "SpecialToken" in place else None
            if mark is not None and mark not in special_tokens:
                raise ValueError(f"post_processor TemplateProcessing: mark {mark[:60]!r} has no id")
    for mark in special_tokens.values():
        ids = mark["ids"]
        if len(ids) != len(mark["tokens"]) or not 1 <= len(ids) <= 16 or not all(map(_is_id, ids)):
            raise ValueError("post_processor TemplateProcessing: a mark must have its ids")


def _check_model(model: Json) -> None:
    kind, vocabulary = model.get("type") or _guessed(model), model.get("vocab")
    if kind not in MODELS or not isinstance(vocabulary, list if kind == "Unigram" else dict):
        raise ValueError(f"model '{str(kind)[:60]}' is not known, or has no vocabulary of its form")
    if not 1 <= len(vocabulary) <= MAX_TOKENS:
        raise ValueError(f"its vocabulary has {len(vocabulary)} tokens; 1 to {MAX_TOKENS} are accepted")
    if kind == "Unigram":
        _check_unigram(model, vocabulary)  # type: ignore[arg-type]
    else:
        _check_vocabulary(model, kind, vocabulary)  # type: ignore[arg-type]
    if kind == "BPE":
        _check_merges(model, vocabulary)  # type: ignore[arg-type]


def _guessed(model: Json) -> str:
    """Older files do not say."""
    return "BPE" if "merges" in model else "WordPiece" if isinstance(model.get("vocab"), dict) else "Unigram"


def _check_vocabulary(model: Json, kind: str, vocabulary: Json) -> None:
    if not all(map(_is_id, vocabulary.values())):
        raise ValueError(f"an id of its vocabulary is not a whole number below {MAX_ID}")
    if len(set(vocabulary.values())) != len(vocabulary):
        raise ValueError("two tokens of its vocabulary have the same id")
    if max(map(len, vocabulary)) > MAX_TEXT:
        raise ValueError(f"a piece of its vocabulary has more than {MAX_TEXT} characters")
    if kind != "BPE" and model.get("unk_token") not in vocabulary:
        raise ValueError(f"the piece for unknown words, {str(model.get('unk_token'))[:60]!r}, is not in its vocabulary")
    if not 1 <= model.get("max_input_chars_per_word", 100) <= 10_000:
        raise ValueError("max_input_chars_per_word must be 1 to 10000")


def _check_unigram(model: Json, vocabulary: list[Any]) -> None:
    for piece, score in vocabulary:
        if (
            not isinstance(piece, str)
            or len(piece) > MAX_TEXT
            or not isinstance(score, int | float)
            or abs(score) > 1e6
        ):
            raise ValueError("a piece of its vocabulary is not a text and a score")
    unknown = model.get("unk_id")
    if type(unknown) is not int or not 0 <= unknown < len(vocabulary):
        raise ValueError("the piece for unknown words (unk_id) is not in its vocabulary")


def _check_merges(model: Json, vocabulary: Json) -> None:
    merges, prefix = model.get("merges") or [], model.get("continuing_subword_prefix") or ""
    if len(merges) > MAX_TOKENS:
        raise ValueError(f"more than {MAX_TOKENS} merges")
    for merge in merges:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        if left not in vocabulary or right not in vocabulary or not right.startswith(prefix):
            raise ValueError(f"merge {str(merge)[:60]!r} has tokens that are not in its vocabulary")
        if left + right[len(prefix) :] not in vocabulary:
            raise ValueError(f"merge {str(merge)[:60]!r} makes no piece of its vocabulary")
    if model.get("unk_token") is not None and model["unk_token"] not in vocabulary:
        raise ValueError("the piece for unknown words is not in its vocabulary")
    if model.get("dropout"):
        raise ValueError("BPE dropout is for training a tokenizer; answers would be random")


def _check_added(added: list[Any]) -> None:
    if not isinstance(added, list) or len(added) > MAX_ADDED_TOKENS:
        raise ValueError(f"added_tokens must be a list of at most {MAX_ADDED_TOKENS}")
    for token in added:
        text = token["content"]
        if not _is_id(token["id"]) or not isinstance(text, str) or not 1 <= len(text) <= MAX_TEXT:
            raise ValueError(f"an added token needs an id below {MAX_ID} and a text of 1 to {MAX_TEXT} characters")


def _check_lengths(padding: Any, truncation: Any) -> None:
    """Batching decides these, not a file; what it says must still not be a bomb for who does not take it off."""
    numbers = json.dumps([padding, truncation], default=str)
    if len(numbers) > MAX_TEXT:
        raise ValueError("padding and truncation must be small tables")
    fixed = (padding or {}).get("strategy")
    lengths = [(padding or {}).get("pad_to_multiple_of"), *(truncation or {}).values()]
    lengths += fixed.values() if isinstance(fixed, dict) else []
    if any(isinstance(length, int) and length > 1_000_000 for length in lengths):
        raise ValueError("padding or truncation is to more than a million tokens")


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value < MAX_ID
