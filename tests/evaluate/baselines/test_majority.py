"""The majority class, and the most frequent sense of each word."""

from collections import Counter

import pytest

from contracts import task_rows
from evaluate.task_kinds import fitted, scored
from niwaki.evaluate.baseline import BASELINES, Baseline
from niwaki.tasks.senses import Senses


def test_accuracy_is_the_share_of_the_majority_class(tasks_by_kind, bert_folder):
    task = tasks_by_kind["label"]
    train, test = (task.gold(task.splits()[part]) for part in ("train", "test"))
    common = Counter(train).most_common(1)[0][0]
    assert scored(task, fitted("majority", task, bert_folder)) == pytest.approx(test.count(common) / len(test))


@pytest.fixture
def task(tmp_path):
    return Senses(path=str(task_rows.write("senses", tmp_path)), glosses="words", dimensions=6)


def test_most_frequent_sense_of_each_word_is_predicted(task, bert_folder):
    candidate = BASELINES.load("majority", Baseline)(task, bert_folder)
    answer = candidate.fit_if_supported()
    golds = task.gold(task.splits()["train"])
    film = (
        sum(keys == ["film%1:01:00::"] for row in golds for keys in row),
        sum(keys == ["film%1:02:00::"] for row in golds for keys in row),
    )
    wanted = "film%1:01:00::" if film[0] > film[1] else "film%1:02:00::"
    inputs = task.inputs(task.splits()["test"])
    values = {
        key
        for row, one in zip(answer(inputs), inputs, strict=True)
        for key, target in zip(row, one.targets, strict=True)
        if target.lemma == "film"
    }
    assert film[0] != film[1] and values == {wanted} and candidate.name == "most frequent sense of each word"


@pytest.mark.parametrize("name", ["tfidf", "static", "frozen"])
def test_other_baselines_of_senses_are_skipped_with_a_reason(task, bert_folder, name):
    candidate = BASELINES.load(name, Baseline)(task, bert_folder)
    assert candidate.fit_if_supported() is None and "no common labels" in candidate.note
