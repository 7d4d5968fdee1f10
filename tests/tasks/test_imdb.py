"""IMDb: whole reviews, and sentences of the train reviews to distil on."""

import pyarrow as pa

from niwaki.tasks.imdb import Imdb


def test_unlabelled_texts_are_sentences_of_train_reviews_only(monkeypatch):
    reviews = [f"Review {n} begins here and now. Then it goes on for some time." for n in range(60)]
    rows = pa.table({"text": reviews, "label": [n % 2 for n in range(60)]})
    monkeypatch.setattr(Imdb, "read_parts", lambda task: {"all": rows})
    task = Imdb()
    train = task.splits()["train"].column("text").to_pylist()
    found = task.unlabelled_texts(1000, seed=0)
    assert len(train) < 60
    assert sorted(found) == sorted(
        {sentence for review in train for sentence in (review[: review.index(".") + 1], review[review.index("Then") :])}
    )


def test_whole_reviews_get_more_tokens_than_sentences():
    assert Imdb().max_tokens == 256 and Imdb().labels == ["negative", "positive"] and Imdb().name == "imdb"
