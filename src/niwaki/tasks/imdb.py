"""IMDb (Maas et al. 2011): is a whole film review positive? 25,000 reviews, embedded."""

from typing import ClassVar

from niwaki.core.settings import setting
from niwaki.data import reviews
from niwaki.tasks.rotten_tomatoes import RottenTomatoes


class Imdb(RottenTomatoes):
    max_tokens: int = setting(256, "reviews are cut after this many tokens", ge=8, le=100_000)

    description: ClassVar[str] = "sentiment of whole film reviews"

    def unlabelled_texts(self, rows: int, seed: int) -> list[str]:
        """Sentences of the train reviews only."""
        return reviews.sentences(self.splits()["train"].column("text").to_pylist(), rows, seed)
