"""Trims a tokenizer's vocabulary to the tokens that a corpus uses."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.tokenization.tokenizing import encode_batch


def without_padding(tokenizer: Tokenizer) -> Tokenizer:
    """A copy without padding and truncation: batching decides those, not a file."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_padding()
    copy.no_truncation()
    return copy


def token_counts(tokenizer: Tokenizer, texts: Iterable[str]) -> Counter[int]:
    """Id → how often a corpus uses the piece; marks and padding are not counted."""
    counts: Counter[int] = Counter()
    for encoding in encode_batch(without_padding(tokenizer), list(texts), fast=True, add_special_tokens=False):
        counts.update(encoding.ids)
    return counts


def used_tokens(tokenizer: Tokenizer, texts: Iterable[str], min_count: int) -> list[int]:
    """Ids, ascending, that a corpus uses at least `min_count` times, with all that any text may fall back on:
    special tokens and single characters, alone and inside a word."""
    counts = token_counts(tokenizer, texts)
    keep = {number for number, count in counts.items() if count >= min_count}
    for piece, number in tokenizer.get_vocab(with_added_tokens=True).items():
        if len(piece.removeprefix("##")) == 1:
            keep.add(number)
    keep.update(tokenizer.get_added_tokens_decoder())
    return sorted(keep)


def trim(tokenizer: Tokenizer, keep: list[int]) -> Tokenizer:
    """The tokenizer with only the tokens `keep`, renumbered in that order. Removed words are split into smaller tokens."""
    description: Json = json.loads(tokenizer.to_str())
    model = description["model"]
    if model["type"] != "WordPiece":
        raise InputError(f"vocabulary: only WordPiece tokenizers can be trimmed, this one is {model['type']}")
    new_number = {old: new for new, old in enumerate(keep)}
    model["vocab"] = {piece: new_number[old] for piece, old in model["vocab"].items() if old in new_number}
    for added in description["added_tokens"]:
        added["id"] = new_number[added["id"]]
    _renumber_special_tokens(description.get("post_processor"), new_number)
    return Tokenizer.from_str(json.dumps(description))


def trimmed(tokenizer: Any, keep: list[int]) -> Any:
    """`trim` for a transformers tokenizer: the same class and special tokens around the smaller vocabulary."""
    return rebuilt(tokenizer, trim(tokenizer.backend_tokenizer, keep))


def rebuilt(tokenizer: Any, inner: Tokenizer) -> Any:
    """A transformers tokenizer with another one inside, and the same special tokens and settings."""
    from transformers import PreTrainedTokenizerFast

    special_tokens = {
        name: str(token) for name, token in tokenizer.special_tokens_map.items() if isinstance(token, str)
    }
    settings = {name: getattr(tokenizer, name) for name in ("model_max_length", "model_input_names", "padding_side")}
    if further := [str(token) for token in getattr(tokenizer, "extra_special_tokens", ())]:
        settings["extra_special_tokens"] = further
    return PreTrainedTokenizerFast(tokenizer_object=inner, **settings, **special_tokens)


def _renumber_special_tokens(value: object, new_number: dict[int, int]) -> None:
    """The post-processor ([CLS] … [SEP]) names its marks by id, in one of two forms."""
    if not isinstance(value, dict):
        return
    for key in ("sep", "cls"):
        if isinstance(value.get(key), list):
            value[key][1] = new_number[value[key][1]]
    for mark in (value.get("special_tokens") or {}).values():
        mark["ids"] = [new_number[old] for old in mark["ids"]]
    for inner in value.get("processors") or []:
        _renumber_special_tokens(inner, new_number)
