"""The ladder under senses: the commonest sense of each word, and rungs that pass with a reason."""

import pytest

from contracts import made
from niwaki.evaluate.ladder import RUNGS, Rung
from niwaki.tasks.senses import Senses


@pytest.fixture
def task(tmp_path):
    return Senses(path=str(made.write("senses", tmp_path)), glosses="words", dimensions=6)


def test_the_commonest_sense_of_each_word(task, bert_folder):
    rung = RUNGS.load("majority", Rung)(task, bert_folder)
    answer = rung.answerer()
    golds = task.gold(task.splits()["train"])
    film = sum(keys == ["film%1:01:00::"] for row in golds for keys in row), sum(keys == ["film%1:02:00::"] for row in golds for keys in row)  # fmt: skip
    wanted = "film%1:01:00::" if film[0] > film[1] else "film%1:02:00::"
    inputs = task.inputs(task.splits()["test"])
    said = {key for row, one in zip(answer(inputs), inputs, strict=True) for key, target in zip(row, one.targets, strict=True) if target.lemma == "film"}  # fmt: skip
    assert film[0] != film[1] and said == {wanted} and rung.name == "the commonest sense of each word"


@pytest.mark.parametrize("name", ["tfidf", "static", "frozen"])
def test_other_rungs_pass_and_say_why(task, bert_folder, name):
    rung = RUNGS.load(name, Rung)(task, bert_folder)
    assert rung.answerer() is None and "no labels" in rung.note
