"""PAN-X: a file for each language and part."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.panx import Panx
from tasks.rows import TEXTS, counts, folder


def sentences(start, count):
    return [
        {"tokens": [*TEXTS[(start + n) % 80].split()[:2], str(start + n)], "tags": ["B-LOC", "O", "I-PER"]}
        for n in range(count)
    ]


def test_development_rows_test_where_there_is_no_test_file(tmp_path):
    path = folder(
        tmp_path / "panx",
        **{
            "en-train": sentences(0, 60),
            "en-dev": sentences(100, 10),
            "de-dev": sentences(200, 8),
            "zh-dev": sentences(300, 6),
            "zh-test": sentences(400, 5),
        },
    )
    task = Panx(path=path)
    found = counts(task)
    assert found["train"] + found["validation"] == 60 and (found["test"], found["de"], found["zh"]) == (10, 8, 5)
    assert task.labels == ["O", "B-LOC", "I-PER"]
    with_test = folder(
        tmp_path / "more" / "panx",
        **{
            "en-train": sentences(0, 60),
            "en-dev": sentences(100, 10),
            "en-test": sentences(500, 7),
            "de-test": sentences(200, 8),
        },
    )
    assert counts(Panx(path=with_test)) == {"train": 60, "validation": 10, "test": 7, "de": 8}


@pytest.mark.parametrize("parts", [["en-dev"], ["en-train", "de-dev"], ["train"]])
def test_missing_english_files_are_named(tmp_path, parts):
    path = folder(tmp_path / "panx", **{part: sentences(0, 5) for part in parts})
    with pytest.raises(InputError, match="needs the files en-train and en-dev, and the same of other languages"):
        Panx(path=path).splits()
