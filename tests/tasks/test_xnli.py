"""XNLI: English train rows from MNLI, a test set for each language."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.xnli import Xnli
from tasks.languages import wide
from tasks.rows import TEXTS, counts, folder

LABELS = ("entailment", "neutral", "contradiction")


def write(home):
    folder(
        home / "xnli",
        **{
            part: wide(start, 30, ("premise", "hypothesis"), lambda n: LABELS[n % 3])
            for part, start in (("dev", 100), ("test", 200))
        },
    )
    train = [{"premise": TEXTS[n], "hypothesis": f"no {n}", "label": n % 3, "idx": n} for n in range(60)]
    folder(home / "mnli", train=train, validation_matched=train[:6])


def test_english_trains_and_each_language_is_tested(tmp_path):
    write(tmp_path)
    task = Xnli(path=str(tmp_path))
    assert counts(task) == {"train": 60, "validation": 30, "test": 30, "de": 30}
    german = task.splits()["de"]
    assert task.inputs(german)[0] == (f"{TEXTS[40]} premise de 200", f"{TEXTS[40]} hypothesis de 200")
    assert task.gold(german)[:3] == list(LABELS) == task.gold(task.splits()["test"])[:3]
    assert set(task.gold(task.splits()["train"])) == set(LABELS) and task.data.tests == ["test", "de"]


def test_missing_train_rows_are_named_with_the_place_to_add_them(tmp_path):
    write(tmp_path)
    (tmp_path / "mnli").rename(tmp_path / "other")
    with pytest.raises(InputError, match=r"xnli: has no train rows; add train.parquet, or MNLI as .*mnli"):
        Xnli(path=str(tmp_path)).splits()


def test_files_of_another_layout_are_rejected(tmp_path):
    folder(tmp_path / "xnli", test=[{"text": "x", "label": 1}])
    with pytest.raises(InputError, match="needs files dev and test with columns premise_en, hypothesis_en, label"):
        Xnli(path=str(tmp_path)).splits()
