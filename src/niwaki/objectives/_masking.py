"""Which tokens are masked and by what they are replaced: single tokens, whole words or spans of words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from tokenizers import decoders
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.seeds import numpy_generator
from niwaki.core.settings import Settings, setting
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.tokenization.windows import special_tokens

CONTINUES, BYTE_SPACE = "##", "Ġ"  # how WordPiece writes tokens inside words, and byte-level BPE a space
PART = "\ufffd"  # what part of a character is decoded to


class UnitSettings(Settings):
    rate: float = setting(0.15, "share of tokens that are predicted", gt=0, lt=1)
    unit: Literal["token", "word", "span"] = setting("token", "what is masked as a whole; spans consist of whole words")
    span_p: float = setting(0.2, "spans: lengths in words are geometric with this parameter", gt=0, lt=1)
    max_span: int = setting(10, "spans: the longest, in words", ge=1, le=1000)


class MaskingSettings(UnitSettings):
    masked: float = setting(0.8, "share of the predicted tokens that the mask token replaces", ge=0, le=1)
    random: float = setting(0.1, "share that random tokens replace; the rest stays as it is", ge=0, le=1)
    dynamic: bool = setting(True, "whether a sequence is masked anew at each step; false always masks the same tokens")


@dataclass(frozen=True)
class Vocabulary:
    """What masking knows of tokens. All arrays are (vocabulary,)."""

    mask_id: int  # -1 where there is none
    special: np.ndarray  # never predicted
    begins_word: np.ndarray
    splits_words: np.ndarray  # ends with no letter or digit, so that the token behind it begins a word
    ordinary: np.ndarray  # ids that may replace others

    @classmethod
    def of(cls, model: Model) -> "Vocabulary":
        tokenizer = model.tokenizer.backend_tokenizer
        names = [tokenizer.id_to_token(number) or "" for number in range(model.anatomy.tokens.num_embeddings)]
        special, unused = np.zeros(len(names), dtype=bool), np.array([not name for name in names])
        special[np.concatenate(special_tokens(tokenizer))] = True
        known = [number for number in model.tokenizer.all_special_ids if number < len(names)]
        ordinary = ~special & ~unused
        ordinary[known] = False
        mask_id = model.tokenizer.mask_token_id
        begins, splits = word_beginnings(names)
        return cls(-1 if mask_id is None else int(mask_id), special, begins, splits, np.flatnonzero(ordinary))


def word_beginnings(names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """For each token whether it begins a word, and whether it ends the one before and lets the next token begin one."""
    if any(name.startswith(CONTINUES) and len(name) > len(CONTINUES) for name in names):  # WordPiece
        begins = np.array([not name.startswith(CONTINUES) for name in names])
        return begins, np.zeros(len(names), dtype=bool)
    if any(name.startswith(BYTE_SPACE) for name in names):
        names = [decoders.ByteLevel().decode([name]) for name in names]
    ends = [(name[:1], name[-1:]) for name in names]
    return np.array([not _in_word(first) for first, _ in ends]), np.array([not _in_word(last) for _, last in ends])


def _in_word(sign: str) -> bool:
    return sign.isalnum() or sign == PART


def mask_batch(
    batch: Batch, vocabulary: Vocabulary, settings: MaskingSettings, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Ids with masks and noise, and the mask of the tokens that are predicted; both (batch, tokens)."""
    ids, real = batch.inputs["input_ids"].cpu().numpy(), batch.mask.cpu().numpy().astype(bool)
    draws = [np.random.default_rng(int(seed)) for seed in torch.randint(2**62, (len(ids),), generator=generator)]
    if not settings.dynamic:
        draws = [numpy_generator(0, "static mask", row) for row in batch.rows.tolist()]
    noisy, chosen = ids.copy(), np.zeros(ids.shape, dtype=bool)
    for number, draw in enumerate(draws):
        length = int(real[number].sum())
        places = masked_places(ids[number, :length], vocabulary, settings, draw)
        for unit in places:
            noisy[number, unit] = replaced(ids[number, unit], vocabulary, settings, draw)
            chosen[number, unit] = True
    device = batch.inputs["input_ids"].device
    return torch.from_numpy(noisy).to(device), torch.from_numpy(chosen).to(device)


def masked_places(
    ids: np.ndarray, vocabulary: Vocabulary, settings: UnitSettings, draw: np.random.Generator
) -> list[np.ndarray]:
    """Places of the units that are masked, in all `rate` of the tokens of a sequence, at least one: units in random order, those
    that would exceed this number left out."""
    free = np.flatnonzero(~vocabulary.special[ids])
    if not len(free):
        return []
    budget = max(1, round(settings.rate * len(free)))
    if settings.unit == "token":
        return [np.sort(draw.permutation(free)[:budget])]
    words = words_of(ids, free, vocabulary)
    found: list[np.ndarray] = []
    taken = np.zeros(len(words), dtype=bool)
    for first in draw.permutation(len(words)):
        length = min(int(draw.geometric(settings.span_p)), settings.max_span) if settings.unit == "span" else 1
        span = slice(first, first + length)
        places = np.concatenate(words[span])
        if not taken[span].any() and len(places) <= budget:
            found.append(places)
            taken[span] = True
            budget -= len(places)
    return found or [min(words, key=len)]


def words_of(ids: np.ndarray, free: np.ndarray, vocabulary: Vocabulary) -> list[np.ndarray]:
    """Places of the tokens of each word."""
    begins = vocabulary.begins_word[ids[free]].copy()
    begins[1:] |= vocabulary.splits_words[ids[free[:-1]]] | (np.diff(free) > 1)
    begins[0] = True
    return np.split(free, np.flatnonzero(begins)[1:])


def replaced(
    ids: np.ndarray, vocabulary: Vocabulary, settings: MaskingSettings, draw: np.random.Generator
) -> np.ndarray:
    """What stands in place of the tokens of a unit: masks, random tokens or the tokens themselves. A span is treated as one."""
    share = np.full(len(ids), draw.random()) if settings.unit == "span" else draw.random(len(ids))
    noise = draw.choice(vocabulary.ordinary, len(ids))
    kept = np.where(share < settings.masked + settings.random, noise, ids)
    return np.where(share < settings.masked, vocabulary.mask_id, kept)


def require_mask(vocabulary: Vocabulary) -> None:
    if vocabulary.mask_id < 0:
        raise InputError(
            "objective: the model's tokenizer has no mask token; take 'causal_lm', or a model that has one"
        )
