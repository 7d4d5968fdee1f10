"""Trims a tokenizer's vocabulary to the tokens that a corpus uses: WordPiece, WordLevel, unigram and BPE.

A text whose tokens are all kept has the same tokens as before. Longest-match splitting and the best path of unigram cannot prefer what is
gone, and BPE keeps the rules by which its tokens come about.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from tokenizers import Tokenizer

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.tokenization.byte_and_character import byte_signs
from niwaki.tokenization.merge_paths import merged_from, ranks_of
from niwaki.tokenization.tokenizing import encode_batch

BYTE = re.compile("<0x[0-9A-F]{2}>")  # what characters without a token are spelled with
NEEDED = {"▁"}  # the space before a word
PretrainedTokenizer = Any  # of transformers
ALL_BYTES = set(byte_signs().values())  # of byte-level BPE


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


def used_tokens(tokenizer: Tokenizer, texts: Iterable[str], min_count: int, all_characters: bool = True) -> list[int]:
    """Ids, ascending, that a corpus uses at least `min_count` times, with all that any text may fall back on: special tokens, bytes
    and single characters, alone and inside a word (without `all_characters` only those that the corpus uses); and with what the
    tokenizer needs to find the others."""
    counts = token_counts(tokenizer, texts)
    keep = {number for number, count in counts.items() if count >= min_count}
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    needed = NEEDED | (ALL_BYTES if vocabulary.keys() >= ALL_BYTES else set())
    for token, number in vocabulary.items():
        single = len(token.removeprefix("##")) == 1
        if BYTE.fullmatch(token) or (single and (all_characters or number in counts or token in needed)):
            keep.add(number)
    keep.update(tokenizer.get_added_tokens_decoder())
    return sorted(keep | _needed(json.loads(tokenizer.to_str())["model"], keep))


def _needed(model: Json, keep: set[int]) -> set[int]:
    """What a model needs so that the kept tokens are found as before: the token for unknown words; for BPE, whose bytes must all
    stay, the tokens that others are merged from; for unigram the token with the lowest score, from which that of unknown characters follows."""
    if model["type"] == "Unigram":
        lowest = min(range(len(model["vocab"])), key=lambda number: model["vocab"][number][1])
        return {lowest, model["unk_id"]}
    vocabulary, name = model["vocab"], model.get("unk_token")
    needed = {vocabulary[name]} if name in vocabulary else set()
    if model["type"] == "BPE":
        tokens = [token for token, number in vocabulary.items() if number in keep]
        parts = merged_from(tokens, ranks_of(model["merges"]), model.get("continuing_subword_prefix") or "")
        needed |= {vocabulary[token] for token in parts if token in vocabulary}
    return needed


def trim(tokenizer: Tokenizer, keep: list[int]) -> Tokenizer:
    """The tokenizer with only the tokens `keep`, renumbered in that order. Removed words are split into smaller tokens."""
    description: Json = json.loads(tokenizer.to_str())
    model = description["model"]
    new_number = {old: new for new, old in enumerate(keep)}
    if model["type"] == "Unigram":
        if model["unk_id"] not in new_number:
            raise InputError("vocabulary: the token for unknown words must be kept; add its id")
        model["vocab"] = [model["vocab"][old] for old in keep if old < len(model["vocab"])]
        model["unk_id"] = new_number[model["unk_id"]]
    else:
        model["vocab"] = {token: new_number[old] for token, old in model["vocab"].items() if old in new_number}
    if model["type"] == "BPE":
        model["merges"] = _remaining_merges(model)
    for added in description["added_tokens"]:
        added["id"] = new_number[added["id"]]
    _renumber_special_tokens(description.get("post_processor"), new_number)
    return Tokenizer.from_str(json.dumps(description))


def _remaining_merges(model: Json) -> list[list[str]]:
    """The rules between tokens of the vocabulary, in their order."""
    vocabulary, prefix = model["vocab"], model.get("continuing_subword_prefix") or ""
    return [
        [left, right]
        for left, right in ranks_of(model["merges"])
        if left in vocabulary and right in vocabulary and left + right.removeprefix(prefix) in vocabulary
    ]


def trimmed(tokenizer: PretrainedTokenizer, keep: list[int]) -> PretrainedTokenizer:
    """`trim` for a transformers tokenizer: the same class and special tokens around the smaller vocabulary."""
    return rebuilt(tokenizer, trim(tokenizer.backend_tokenizer, keep))


def rebuilt(tokenizer: PretrainedTokenizer, inner: Tokenizer) -> PretrainedTokenizer:
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
