"""A SentencePiece model as a tokenizer of the tokenizers library: the same ids, without the sentencepiece package.

| SentencePiece | tokenizers |
|---|---|
| replacements of characters | Precompiled |
| removal of spaces | Replace, at both ends and of several by one |
| a space before the text, marked spaces | Metaspace |
| unigram: user-defined symbols always win | their score is raised as SentencePiece raises it |
| unigram: control symbols, bytes and unused tokens never match | they get a score below all others |
| BPE: the token with the best score is merged first | merges in the order of scores |

Two things may differ: characters that the replacements change only together with their neighbours, and texts with two segmentations whose
scores differ by less than a float can hold.
"""

import base64
from collections.abc import Mapping, Sequence

from niwaki.core.json_types import Json
from niwaki.tokenization.sentencepiece_file import BPE, BYTE, NORMAL, SPACE, USER_DEFINED, SentencePieceModel, Token

NEVER = -1e5  # a score that no path through a text takes if there is another
SPACES, EDGES = " {2,}", r"\A | \z"
BONUS = 0.1
NO_CHARACTER = "\ue000"  # of private use: no vocabulary has it


def vocabulary_model(model: SentencePieceModel) -> Json:
    """The section `model` of a tokenizer.json."""
    return _bpe(model) if model.kind == BPE else unigram(token_scores(model), model.unknown, model.byte_fallback)


def unigram(scores: Sequence[tuple[str, float]], unknown: int, byte_fallback: bool = False) -> Json:
    return {
        "type": "Unigram",
        "unk_id": unknown,
        "vocab": [list(one) for one in scores],
        "byte_fallback": byte_fallback,
    }


def token_scores(model: SentencePieceModel) -> list[tuple[str, float]]:
    """Of a unigram model."""
    best = max((token.score for token in model.tokens if token.kind == NORMAL), default=0.0)
    return [(token.text, _score(token, best)) for token in model.tokens]


def _score(token: Token, best: float) -> float:
    if token.kind == USER_DEFINED:
        return len(token.text) * best - BONUS
    return max(token.score, NEVER) if token.kind == NORMAL else NEVER


def _bpe(model: SentencePieceModel) -> Json:
    return {
        "type": "BPE",
        "vocab": {token.text: number for number, token in enumerate(model.tokens)},
        "merges": merges(model.tokens),
        "unk_token": model.tokens[model.unknown].text,
        "fuse_unk": True,
        "byte_fallback": model.byte_fallback,
    }


def merges(tokens: Sequence[Token]) -> list[list[str]]:
    """Every way to put a token together from two others, the token with the best score first."""
    number = {token.text: place for place, token in enumerate(tokens) if token.kind == NORMAL}
    found = []
    for text, place in number.items():
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if left in number and right in number:
                found.append((-tokens[place].score, place, number[left], number[right], left, right))
    return [[left, right] for *_, left, right in sorted(found)]


def normalizer(model: SentencePieceModel, before: Sequence[Json] = ()) -> Json | None:
    """`before` are steps that a family takes first, e.g. lower case."""
    steps = list(before)
    if model.charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.charsmap).decode()})
    if model.removes_spaces:
        steps.append({"type": "Replace", "pattern": {"Regex": SPACES}, "content": " "})
        steps.append({"type": "Replace", "pattern": {"Regex": EDGES}, "content": ""})
    else:
        steps += _marked_spaces(model)
    return {"type": "Sequence", "normalizers": steps} if steps else None


def _marked_spaces(model: SentencePieceModel) -> list[Json]:
    """The space before a text and the mark of spaces, for texts that may begin with a space of their own."""
    prefix = [{"type": "Prepend", "prepend": SPACE}] if model.adds_prefix else []
    return [{"type": "Replace", "pattern": {"String": " "}, "content": SPACE}, *prefix]


def metaspace(model: SentencePieceModel) -> Json:
    """Marks spaces; as a pre-tokenizer and as a decoder. Words are split only if no token spans two of them."""
    spans_words = any(SPACE in token.text[1:] for token in model.tokens if token.kind in (NORMAL, USER_DEFINED))
    return {
        "type": "Metaspace",
        "replacement": SPACE,
        "prepend_scheme": "always" if model.adds_prefix and model.removes_spaces else "never",
        "split": not spans_words,
    }


def decoder(model: SentencePieceModel) -> Json:
    if not any(token.kind == BYTE for token in model.tokens):
        return {**metaspace(model), "split": True}
    steps: list[Json] = [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if model.adds_prefix:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return {"type": "Sequence", "decoders": steps}


def tokenizer_of(model: SentencePieceModel) -> Json:
    """The content of a tokenizer.json with the tokens under the ids of the file, without special tokens."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": normalizer(model),
        "pre_tokenizer": metaspace(model),
        "post_processor": None,
        "decoder": decoder(model),
        "model": vocabulary_model(model),
    }


def with_vocabulary(model: SentencePieceModel, vocabulary: Mapping[str, int]) -> Json:
    """The content of a tokenizer.json for a unigram model whose tokens have the ids of another table. Tokens of that table that the
    model does not have are found only where the model knows none of their characters; what it finds and the table lacks is unknown."""
    scores = {text: score for text, score in token_scores(model) if score != NEVER}
    by_id = sorted(vocabulary, key=lambda text: vocabulary[text])
    found = tokenizer_of(model)
    listed = [(text, scores.get(text, NEVER)) for text in by_id]
    found["model"] = unigram(listed, vocabulary[model.tokens[model.unknown].text])
    signs = set().union(*vocabulary) - {SPACE}
    missing = [text for text in scores if text not in vocabulary and len(text) > 1 and not signs & set(text)]
    missing.sort(key=len, reverse=True)
    if missing:  # the space in front of them must not be found as a token
        steps = [*(normalizer(model) or {}).get("normalizers", []), *_marked_spaces(model)]
        steps += [{"type": "Replace", "pattern": {"String": text}, "content": NO_CHARACTER} for text in missing]
        found["normalizer"] = {"type": "Sequence", "normalizers": steps}
        found["pre_tokenizer"] = {**found["pre_tokenizer"], "prepend_scheme": "never"}
    return found
