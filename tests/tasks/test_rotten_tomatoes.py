"""Rotten Tomatoes: embedded rows, and sentences of other reviews to distil on."""

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.data import reviews
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.rotten_tomatoes import RottenTomatoes, imdb_sentences


def test_the_embedded_task():
    task = TASKS.load("rotten_tomatoes", Task)()
    splits = task.splits()
    assert sum(table.num_rows for table in splits.values()) == 8530
    assert task.labels == ["negative", "positive"]
    texts = {name: set(table.column("text").to_pylist()) for name, table in splits.items()}
    assert not texts["train"] & texts["test"] and not texts["train"] & texts["validation"]
    share = {name: np.mean([label == "positive" for label in task.gold(table)]) for name, table in splits.items()}
    assert max(share.values()) - min(share.values()) < 0.01


def test_an_embedded_task_takes_no_rows_of_others(rows_csv):
    with pytest.raises(InputError, match="take task 'classification' for yours"):
        TASKS.load("rotten_tomatoes", Task)(path=str(rows_csv)).splits()


def test_unlabelled_texts_are_sentences_of_the_other_site(monkeypatch):
    table = reviews.read_reviews("imdb").slice(0, 20)
    monkeypatch.setattr(reviews, "read_reviews", lambda source: {"imdb": table}[source])
    imdb_sentences.cache_clear()
    found = RottenTomatoes().unlabelled_texts(30, seed=1)
    whole = "\n".join(table.column("text").to_pylist())
    assert len(found) == len(set(found)) == 30 and all(text in whole for text in found)
    assert RottenTomatoes().unlabelled_texts(30, seed=2) != found
    imdb_sentences.cache_clear()
