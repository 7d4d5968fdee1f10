"""Rotten Tomatoes (Pang and Lee 2005): is a sentence of a film review positive? 8,530 sentences, embedded."""

from functools import cache
from typing import ClassVar

import pyarrow as pa

from niwaki.data import reviews
from niwaki.tasks._declarations import Published
from niwaki.tasks.classification import Classification


class RottenTomatoes(Classification):
    label_names: ClassVar[tuple[str, ...]] = ("negative", "positive")
    published: ClassVar[Published] = Published(embedded=True)
    description: ClassVar[str] = "sentiment of single sentences of film reviews"

    def read_parts(self) -> dict[str, pa.Table]:
        return {"all": reviews.read_reviews(str(self.data.source))}

    def unlabelled_texts(self, rows: int, seed: int) -> list[str]:
        return imdb_sentences(rows, seed)


@cache
def imdb_sentences(rows: int, seed: int) -> list[str]:
    """Of the other site's reviews, so that no sentence of this task's test rows is among them."""
    return reviews.sentences(reviews.read_reviews("imdb").column("text").to_pylist(), rows, seed)
