"""Static vectors: the token embeddings of a pretrained model, or the word vectors of a text file (`word 0.1 -0.2 …`)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from tokenizers import Tokenizer

from niwaki.answers._answer_type import chunked
from niwaki.answers.tags import WORD
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged, RaggedWriter
from niwaki.models.model import Model
from niwaki.models.module_paths import to_dense
from niwaki.tokenization.tokenizing import encode_batch

MAX_LINE_BYTES = 1 << 20
HEADER = 2  # fields of the header line in word2vec's format: number of words, number of dimensions


@dataclass(frozen=True)
class Table:
    vectors: np.ndarray  # (entries, width)
    entries: Callable[[Sequence[str]], Ragged]  # the entries of each text

    def mean(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, width): the mean of a text's vectors; 0 where it has none."""
        found = self.entries(texts)
        shares = np.repeat(1 / np.maximum(found.lengths, 1), found.lengths).astype(np.float32)
        weights = sparse.csr_matrix((shares, found.values, found.starts), shape=(len(texts), len(self.vectors)))
        return np.asarray(weights @ self.vectors)

    def around(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """(words of all sentences, 3 × width): the vectors of the word before, of the word and of the one after."""
        different = {word: number for number, word in enumerate({word: 0 for words in sentences for word in words})}
        known = self.mean([f" {word}" for word in different])  # as inside a text
        known = np.concatenate([known, np.zeros_like(known[:1])])  # the last one: no word
        places = [[-1, *(different[word] for word in words), -1] for words in sentences]
        flat = [np.stack([row[:-2], row[1:-1], row[2:]], axis=1) for row in map(np.array, places)]
        return known[np.concatenate(flat)].reshape(-1, 3 * known.shape[1])


def of_model(model: Model) -> Table:
    """The token embeddings, without special tokens and truncation."""
    tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def entries(texts: Sequence[str]) -> Ragged:
        rows = RaggedWriter()
        for chunk in chunked(texts):
            rows.add(encoding.ids for encoding in encode_batch(tokenizer, chunk, fast=True, add_special_tokens=False))
        return rows.done()

    return Table(to_dense(model.anatomy.tokens).weight.detach().float().cpu().numpy(), entries)


def of_file(path: Path, texts: Iterable[str]) -> Table:
    """The vectors of the words of the texts, as written or in lower case. Rejects files that are not word vectors, or have none of the
    words."""
    wanted = {form for text in texts for word in WORD.findall(text) for form in (word, word.lower())}
    found = dict(read_vectors(path, wanted))
    if not found:
        raise InputError(f"{path}: has none of the words of the rows; is it for another language?")
    number = {word: place for place, word in enumerate(found)}

    def entries(texts: Sequence[str]) -> Ragged:
        places = ((number.get(word, number.get(word.lower())) for word in WORD.findall(text)) for text in texts)
        return Ragged.of([place for place in row if place is not None] for row in places)

    return Table(np.stack(list(found.values())), entries)


def read_vectors(path: Path, wanted: set[str]) -> Iterator[tuple[str, np.ndarray]]:
    """The wanted words with their vectors. Words that contain spaces are skipped."""
    width = 0
    try:
        with path.open("rb") as file:
            for place, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), start=1):
                word, *numbers = line.split() or [b""]
                if (place == 1 and len(numbers) == HEADER - 1) or not word:
                    continue
                width = width or len(numbers)
                check_line(place, line, len(numbers), width)
                if len(numbers) == width and (text := word.decode("utf-8", "replace")) in wanted:
                    yield text, numbers_of(place, numbers)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: is not a file of word vectors, with a word and its numbers on every line ({error})"
        ) from None


def check_line(place: int, line: bytes, found: int, width: int) -> None:
    if len(line) == MAX_LINE_BYTES:
        raise ValueError(f"line {place} is longer than {MAX_LINE_BYTES >> 20} MB")
    if not width:
        raise ValueError(f"line {place} has no numbers")
    if found < width:
        raise ValueError(f"line {place} has {found} numbers, the first one {width}")


def numbers_of(place: int, numbers: list[bytes]) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            vector = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise ValueError(f"line {place}: {error}") from None
    if not np.isfinite(vector).all():
        raise ValueError(f"line {place} has a number that is not finite")
    return vector
