"""Trains a tokenizer on files of texts and evaluates it on held-out texts."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from niwaki.answers._answer_type import chunked
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder, require_writable, write_text
from niwaki.core.json_types import Json
from niwaki.data import unlabelled
from niwaki.tokenization.tokenizing import encode_batch
from niwaki.tokenization.training import SPECIAL_TOKENS, UNK, make

FILE = "tokenizer.json"
HELD_BACK = 10  # one text in ten is held out, chosen by its hash


@dataclass(frozen=True)
class Corpus:
    """Texts of files. They are streamed from disk on every pass."""

    sources: Sequence[Path]
    columns: Sequence[str]

    def texts(self, held_back: bool) -> Iterator[str]:
        for source in self.sources:
            for text in unlabelled.single_texts(source, self.columns):
                if is_held_back(text) == held_back:
                    yield text


def write(sources: Sequence[Path], split: str, vocab_size: int, out: Path, columns: Sequence[str] = ()) -> Json:
    """Writes tokenizer.json to `out` and returns its scores on held-out texts."""
    if not sources:
        raise UsageError("tokenizer: give at least one file of texts")
    for source in sources:
        if not source.exists():
            raise InputError(f"{source}: is not there")
        if not source.is_file() and not source.is_dir():  # a pipe or a device could be read once, or never ends
            raise InputError(f"{source}: is not a plain file, and is read twice; write it to a file first")
    if out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise InputError(f"{out}: exists already; remove it, or choose another folder with --out")
    require_writable(out)
    corpus = Corpus(sources, columns)
    with commit_folder(out) as folder:
        content = make(corpus.texts(held_back=False), split, vocab_size)
        write_text(folder / FILE, content)
    tokenizer = Tokenizer.from_str(content)
    summary = {"out": str(out / FILE), "split": split, "vocab_size": tokenizer.get_vocab_size()}
    return {**summary, **evaluate_tokenizer(tokenizer, corpus.texts(held_back=True))}


def evaluate_tokenizer(tokenizer: Tokenizer, texts: Iterator[str]) -> Json:
    """Tokens per word and the share of unknown tokens; None without texts."""
    count = words = tokens = unknown = 0
    for batch in chunked(texts):
        for encoded in encode_batch(tokenizer, batch, fast=True, add_special_tokens=False):
            tokens += len(encoded.ids)
            unknown += encoded.ids.count(SPECIAL_TOKENS.index(UNK))
        count += len(batch)
        words += sum(len(text.split()) for text in batch)
    per_word = tokens / words if words else None
    return {"held_back": count, "tokens_per_word": per_word, "unknown": unknown / tokens if tokens else None}


def is_held_back(text: str) -> bool:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) % HELD_BACK == 0
