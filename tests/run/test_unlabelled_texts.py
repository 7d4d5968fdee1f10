"""Unlabelled texts of a stage: how many, which, and none that the model is scored on."""

from pathlib import Path

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.run.recipe_settings import CacheSettings, Stage
from niwaki.run.unlabelled_texts import cache_folder, count, draw_unlabelled, evaluation_texts
from niwaki.tasks.classification import Classification
from niwaki.train.settings import TrainSettings


class WithTexts(Classification):
    """A task with texts of its own."""

    def unlabelled_texts(self, rows, seed):
        return [f"own text {seed} {number}" for number in range(rows)]


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"another text number {number}\n" for number in range(30)))
    return path


def of_part(task, part):
    return task.inputs(task.splits()[part])


def test_the_number_of_texts_is_bounded_by_file_and_setting(task, texts, rows_csv):
    def counted(one, **train):
        return count(one, Stage(name="a", train=TrainSettings(**train)))

    assert count(task, Stage(name="a")) == 0 and counted(task) == 0
    assert counted(task, unlabelled=10, unlabelled_path=str(texts)) == 10
    assert counted(task, unlabelled=100, unlabelled_path=str(texts)) == 30
    assert counted(task, unlabelled=100) == 0  # the task brings none
    assert counted(WithTexts(path=str(rows_csv)), unlabelled=100) == 100


def test_texts_are_drawn_by_the_seed(task, texts):
    train = TrainSettings(unlabelled=10, unlabelled_path=str(texts))
    (first, excluded), (same, _), (other, _) = (draw_unlabelled(task, train, seed) for seed in (1, 1, 2))
    assert first == same and set(first) != set(other) and len(set(first)) == 10 and excluded == 0


def test_texts_of_a_task_are_taken_without_a_path(rows_csv):
    found, _ = draw_unlabelled(WithTexts(path=str(rows_csv)), TrainSettings(unlabelled=3), 5)
    assert found == ["own text 5 0", "own text 5 1", "own text 5 2"]


def test_evaluation_rows_are_excluded_whatever_their_case_and_spacing(task, texts):
    hidden = [*of_part(task, "test")[:3], *of_part(task, "validation")[:2]]
    with texts.open("a") as file:
        file.writelines(f"  {text.upper().replace(' ', '   ')}\n" for text in hidden)
        file.writelines(f"{text}\n" for text in of_part(task, "train")[:4])
    found, excluded = draw_unlabelled(task, TrainSettings(unlabelled=1000, unlabelled_path=str(texts)), 0)
    assert excluded == 5 and len(found) == 34 and set(of_part(task, "train")[:4]) <= set(found)


def test_pairs_are_recognised_as_pairs(tmp_path):
    path = tiny.write_pairs_csv(tmp_path / "pairs.csv")
    task = Classification(path=str(path))
    found, (first, second) = evaluation_texts(task), of_part(task, "test")[0]
    assert found((first, second)) and not found((second, first)) and not found(first)


def test_nothing_but_evaluation_rows_is_rejected(task, tmp_path):
    path = tmp_path / "test.txt"
    path.write_text("\n".join(of_part(task, "test")))
    number = len(of_part(task, "test"))
    with pytest.raises(
        InputError,
        match=rf"^train\.unlabelled_path: all {number} texts are validation or test rows of task 'classification'; give",
    ):
        draw_unlabelled(task, TrainSettings(unlabelled=100, unlabelled_path=str(path)), 0)


def test_the_cache_is_next_to_the_runs():
    assert cache_folder(CacheSettings(), Path("runs/mine")) == Path("runs/.teachers")
    assert cache_folder(CacheSettings(folder="elsewhere"), Path("runs/mine")) == Path("elsewhere")
