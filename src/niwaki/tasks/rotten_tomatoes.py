"""Rotten Tomatoes (Pang and Lee 2005): is a sentence of a film review positive? 8,530 sentences, embedded."""

from functools import cache
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from niwaki.core.errors import InputError
from niwaki.data import reviews
from niwaki.tasks.classification import Classification


class RottenTomatoes(Classification):
    label_names: ClassVar[tuple[str, ...]] = ("negative", "positive")
    description: ClassVar[str] = "sentiment of single sentences of film reviews"

    def source(self) -> str | Path:
        if self.path:
            raise InputError(f"data.path: task '{self.name}' has rows of its own; take task 'classification' for yours")
        return self.name

    def parts(self) -> dict[str, pa.Table]:
        return {"all": reviews.read_reviews(str(self.source()))}

    def unlabelled_texts(self, rows: int, seed: int) -> list[str]:
        return imdb_sentences(rows, seed)


@cache
def imdb_sentences(rows: int, seed: int) -> list[str]:
    """Of the other site's reviews, so that no sentence of this task's test rows is among them."""
    return reviews.sentences(reviews.read_reviews("imdb").column("text").to_pylist(), rows, seed)
