"""A tokenizer from files of texts, and how well it does on texts that it was not made from."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from niwaki.answers._answer_type import chunked
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder, require_writable, write_text
from niwaki.data import unlabelled
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.training import MARKS, UNK, make

FILE = "tokenizer.json"
HELD_BACK = 10  # one text of so many, by its hash: the same text always goes the same way


@dataclass(frozen=True)
class Corpus:
    """Texts of files, read anew whenever they are asked for: no more than a few are held."""

    sources: Sequence[Path]
    columns: Sequence[str]

    def texts(self, held_back: bool) -> Iterator[str]:
        for source in self.sources:
            for text in unlabelled.single_texts(source, self.columns):
                if is_held_back(text) == held_back:
                    yield text


def write(
    sources: Sequence[Path], split: str, vocab_size: int, out: Path, columns: Sequence[str] = ()
) -> dict[str, Any]:
    """The folder `out` with tokenizer.json, and what was seen on the texts that were held back."""
    if not sources:
        raise UsageError("tokenizer: give at least one file of texts")
    for source in sources:
        if not source.exists():
            raise InputError(f"{source}: is not there")
        if not source.is_file() and not source.is_dir():  # a pipe or a device could be read once, or never ends
            raise InputError(f"{source}: is not a plain file, and is read twice; write it to a file first")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: is there already; remove it, or choose another folder with --out")
    require_writable(out)
    corpus = Corpus(sources, columns)
    with commit_folder(out) as folder:
        made = make(corpus.texts(held_back=False), split, vocab_size)
        write_text(folder / FILE, made)
    tokenizer = Tokenizer.from_str(made)
    told = {"out": str(out / FILE), "split": split, "vocab_size": tokenizer.get_vocab_size()}
    return {**told, **evaluate_tokenizer(tokenizer, corpus.texts(held_back=True))}


def evaluate_tokenizer(tokenizer: Tokenizer, texts: Iterator[str]) -> dict[str, Any]:
    """How many tokens a word becomes, and which share of tokens are unknown; none where there is no text."""
    count = words = tokens = unknown = 0
    for some in chunked(texts):
        for encoded in encode_batch(tokenizer, some, fast=True, add_special_tokens=False):
            tokens += len(encoded.ids)
            unknown += encoded.ids.count(MARKS.index(UNK))
        count += len(some)
        words += sum(len(text.split()) for text in some)
    per_word = tokens / words if words else None
    return {"held_back": count, "tokens_per_word": per_word, "unknown": unknown / tokens if tokens else None}


def is_held_back(text: str) -> bool:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % HELD_BACK == 0
