"""The ladder under senses: the commonest sense of each word, and rungs that pass with a reason."""

import pytest

from contracts import made
from niwaki.evaluate.baseline import BASELINES, Baseline
from niwaki.tasks.senses import Senses


@pytest.fixture
def task(tmp_path):
    return Senses(path=str(made.write("senses", tmp_path)), glosses="words", dimensions=6)


def test_the_commonest_sense_of_each_word(task, bert_folder):
    candidate = BASELINES.load("majority", Baseline)(task, bert_folder)
    answer = candidate.fit_if_supported()
    golds = task.gold(task.splits()["train"])
    film = (
        sum(keys == ["film%1:01:00::"] for row in golds for keys in row),
        sum(keys == ["film%1:02:00::"] for row in golds for keys in row),
    )
    wanted = "film%1:01:00::" if film[0] > film[1] else "film%1:02:00::"
    inputs = task.inputs(task.splits()["test"])
    said = {
        key
        for row, one in zip(answer(inputs), inputs, strict=True)
        for key, target in zip(row, one.targets, strict=True)
        if target.lemma == "film"
    }
    assert film[0] != film[1] and said == {wanted} and candidate.name == "the commonest sense of each word"


@pytest.mark.parametrize("name", ["tfidf", "static", "frozen"])
def test_other_rungs_pass_and_say_why(task, bert_folder, name):
    candidate = BASELINES.load(name, Baseline)(task, bert_folder)
    assert candidate.fit_if_supported() is None and "no labels" in candidate.note
