"""PAWS-X: rows without a translation or a label are left out."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.pawsx import Pawsx
from tasks.languages import wide
from tasks.rows import counts, folder

COLUMNS = ("sentence1", "sentence2")


def test_untranslated_rows_are_left_out_of_their_language_alone(tmp_path):
    test = wide(200, 20, COLUMNS, lambda n: n % 2)
    test[3]["sentence1_de"] = "NS"
    test[5]["label"] = None
    folder(tmp_path / "pawsx", dev=wide(100, 60, COLUMNS, lambda n: n % 2), test=test)
    task = Pawsx(path=str(tmp_path))
    found = counts(task)
    assert (found["train"] + found["validation"], found["test"], found["de"]) == (60, 19, 18)
    assert task.labels == ["different", "paraphrase"]


def test_train_rows_are_taken_where_there_are_any(tmp_path):
    parts = {
        part: wide(start, 20, COLUMNS, lambda n: n % 2) for part, start in (("train", 0), ("dev", 100), ("test", 200))
    }
    assert counts(Pawsx(path=folder(tmp_path / "pawsx", **parts))) == {
        "train": 20,
        "validation": 20,
        "test": 20,
        "de": 20,
    }


def test_files_of_another_layout_are_rejected(tmp_path):
    path = folder(tmp_path / "pawsx", dev=[{"text": "x", "label": 1}], test=[{"text": "x", "label": 1}])
    with pytest.raises(
        InputError, match=r"needs files train .or dev. and test with columns sentence1_en, sentence2_en, label"
    ):
        Pawsx(path=path).splits()
