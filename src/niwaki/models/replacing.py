"""Words that could stand where another stands: by a masked-language model in the sentence, else the nearest in a table of vectors.

As TinyBERT augments its data (Jiao et al. 2020, arXiv 1909.10351, algorithm 1). Only words that are one piece of the
vocabulary are replaced, by such words.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from niwaki.core.seeds import numpy_generator
from niwaki.core.shards import stored_tensors
from niwaki.models.anatomy import Network
from niwaki.models.config_rules import CONFIG, text_positions
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.models.skeleton import attention, checked_config
from niwaki.models.stock import read_tensors
from niwaki.tokenization import trimming
from niwaki.tokenization.tokenizing import encode

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
CANDIDATES = 15  # of each word, as in the paper
SHARE = 0.4  # of words that are replaced in a copy
MLM_HEADS = ("cls.predictions.", "lm_head.", "vocab_transform.", "predictions.", "generator_predictions.")
AT_ONCE = 64  # masked sentences
BEGINS_WORD = (
    "Ġ",
    "▁",
)  # how tokens that begin a word are marked, by bytes and by SentencePiece; others mark those that do not
Candidates = Callable[[str], list[list[str]]]  # of each word of a text, in their order; an empty list leaves it


def copies(texts: Sequence[Any], count: int, candidates: Candidates, seed: int) -> Iterator[Any]:
    """`count` copies of each text, or pair of texts, with some words replaced; drawn by (seed, row)."""
    for row, given in enumerate(texts):
        parts = [given] if isinstance(given, str) else list(given)
        choices = [candidates(part) for part in parts]
        generator = numpy_generator(seed, "augment", row)
        for _ in range(count):
            copied = [_copy(part, some, generator) for part, some in zip(parts, choices, strict=True)]
            yield copied[0] if isinstance(given, str) else tuple(copied)


def _copy(text: str, choices: list[list[str]], generator: np.random.Generator) -> str:
    words = list(WORD.finditer(text))
    draws = generator.random((len(words), 2))
    parts, place = [], 0
    for word, some, (replaced, which) in zip(words, choices, draws, strict=True):
        parts.append(text[place : word.start()])
        place = word.end()
        if not some or replaced >= SHARE:
            parts.append(word.group())
            continue
        new = some[int(which * len(some))]
        parts.append(new.capitalize() if word.group()[0].isupper() else new)
    return "".join([*parts, text[place:]])


class Nearest:
    """By the cosine of two words' rows in a model's table of tokens."""

    def __init__(self, model: Model, texts: Iterable[str]) -> None:
        tokenizer = model.tokenizer.backend_tokenizer
        self.number = whole_words(tokenizer)
        self.words = list(self.number)
        table = torch.nn.functional.normalize(
            to_dense(model.anatomy.tokens).weight.detach().float()[list(self.number.values())]
        )
        self.lower = bool(tokenizer.normalizer) and tokenizer.normalizer.normalize_str("A") == "a"
        row = {word: place for place, word in enumerate(self.words)}
        used = sorted({self._form(word) for text in texts for word in WORD.findall(text)} & row.keys())
        self.near: dict[str, list[str]] = {}
        for start in range(0, len(used), 1024):
            some = used[start : start + 1024]
            likeness = table[[row[word] for word in some]] @ table.T
            best = likeness.topk(min(CANDIDATES + 1, len(self.words)), dim=1).indices.tolist()
            for word, places in zip(some, best, strict=True):
                self.near[word] = [self.words[place] for place in places if self.words[place] != word][:CANDIDATES]

    def _form(self, word: str) -> str:
        return word.lower() if self.lower else word

    def __call__(self, text: str) -> list[list[str]]:
        return [self.near.get(self._form(word), []) for word in WORD.findall(text)]


class InContext:
    """By what a masked-language model expects in the place of each word."""

    def __init__(self, network: Network, tokenizer: Any) -> None:
        self.network, self.mask = network.eval(), tokenizer.mask_token_id
        self.tokenizer = trimming.without_padding(tokenizer.backend_tokenizer)
        self.longest = text_positions(network.config.to_dict())
        self.number = whole_words(self.tokenizer)
        self.allowed = torch.tensor(sorted(self.number.values()))
        self.word = {number: word for word, number in self.number.items()}

    @torch.inference_mode()
    def __call__(self, text: str) -> list[list[str]]:
        encoding = encode(self.tokenizer, text)
        ids = torch.tensor(encoding.ids[: self.longest])
        starts = {
            last - len(text[first:last].lstrip()): place  # some tokenizers count the blank before a word as its own
            for place, (first, last) in enumerate(encoding.offsets[: len(ids)])
            if last > first
        }
        spans = [(word.start(), word.end()) for word in WORD.finditer(text)]
        places = [starts.get(first, -1) for first, last in spans]
        single = [
            number
            for number, (place, (_, last)) in enumerate(zip(places, spans, strict=True))
            if place >= 0 and encoding.offsets[place][1] == last
        ]
        found: list[list[str]] = [[] for _ in spans]
        for begin in range(0, len(single), AT_ONCE):
            some = single[begin : begin + AT_ONCE]
            masked = ids.repeat(len(some), 1)
            masked[range(len(some)), [places[number] for number in some]] = self.mask
            logits = self.network(input_ids=masked, attention_mask=torch.ones_like(masked)).logits
            here = logits[range(len(some)), [places[number] for number in some]][:, self.allowed]
            best = self.allowed[here.topk(min(CANDIDATES, len(self.allowed)), dim=1).indices].tolist()
            for number, row in zip(some, best, strict=True):
                found[number] = [self.word[one] for one in row]
        return found


def whole_words(tokenizer: Any) -> dict[str, int]:
    """Tokens of the vocabulary that are whole words, with their ids."""
    vocabulary = tokenizer.get_vocab()
    mark = next((mark for mark in BEGINS_WORD if any(piece.startswith(mark) for piece in vocabulary)), "")
    to_dense = {piece.removeprefix(mark): number for piece, number in vocabulary.items() if piece.startswith(mark)}
    words = {word: number for word, number in to_dense.items() if WORD.fullmatch(word) and len(word) > 1}
    return dict(sorted(words.items(), key=lambda entry: entry[1]))


def masked_model(folder: Path) -> Network | None:
    """The model with its head for masked words, where the weights have one; else None."""
    import transformers

    from niwaki.core import strict_json

    if not any(name.startswith(MLM_HEADS) for name in stored_tensors(folder).tensors):
        return None
    values = checked_config(strict_json.load(folder / CONFIG), str(folder / CONFIG))
    config = transformers.AutoConfig.for_model(**values)
    with on_meta_device():
        kind: Any = type(transformers.AutoModelForMaskedLM.from_config(config))
    network, loading_info = kind.from_pretrained(
        None,
        config=config,
        state_dict=read_tensors(folder),
        attn_implementation=attention(),
        dtype="float32",
        output_loading_info=True,
    )
    return None if loading_info["missing_keys"] or loading_info["mismatched_keys"] else network
