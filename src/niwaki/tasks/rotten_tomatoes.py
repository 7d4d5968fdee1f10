"""Rotten Tomatoes (Pang and Lee 2005): is a sentence of a film review positive? 8,530 sentences, embedded."""

from functools import cache
from typing import ClassVar

import pyarrow as pa

from niwaki.data import reviews
from niwaki.tasks.classification import Classification

NAMES = {0: "negative", 1: "positive"}


class RottenTomatoes(Classification):
    description: ClassVar[str] = "sentiment of single sentences of film reviews"
    source: ClassVar[str] = "rotten_tomatoes"

    def rows(self) -> dict[str, pa.Table]:
        table = reviews.read(self.source)
        names = pa.array([NAMES[number] for number in table.column("label").to_pylist()])
        return {"all": pa.table({self.text: table.column("text"), self.label: names})}

    def transfer_texts(self, rows: int, seed: int) -> list[str]:
        return imdb_sentences(rows, seed)


@cache
def imdb_sentences(rows: int, seed: int) -> list[str]:
    """Of the other site's reviews, so that no sentence of this task's test rows is among them."""
    return reviews.sentences(reviews.read("imdb").column("text").to_pylist(), rows, seed)
