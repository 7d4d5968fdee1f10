"""xSID: one file with all languages and parts."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.xsid import Xsid
from tasks.rows import TEXTS, counts, folder


def requests(language, split, start, count):
    return [
        {
            "lang": language,
            "split": split,
            "tokens": [*TEXTS[(start + n) % 80].split()[:2], str(start + n)],
            "slots": ["O", "B-time", "I-time"],
        }
        for n in range(count)
    ]


VALID, TEST = requests("en", "valid", 0, 40), [*requests("en", "test", 100, 12), *requests("de-ba", "test", 200, 9)]


def test_english_validation_rows_train_where_there_are_no_train_rows(tmp_path):
    found = counts(Xsid(path=folder(tmp_path / "a" / "xsid", xsid=[*VALID, *TEST])))
    assert found["train"] + found["validation"] == 40 and (found["test"], found["de-ba"]) == (12, 9)
    train = requests("en", "train", 300, 30)
    assert counts(Xsid(path=folder(tmp_path / "b" / "xsid", xsid=[*train, *VALID, *TEST]))) == {
        "train": 30,
        "validation": 40,
        "test": 12,
        "de-ba": 9,
    }


def test_files_of_another_layout_are_rejected(tmp_path):
    with pytest.raises(
        InputError, match="has 2 files with rows; give the one with the columns lang, split, tokens, slots"
    ):
        Xsid(path=folder(tmp_path / "a" / "xsid", x=TEST, y=TEST)).splits()
    with pytest.raises(InputError, match=r"has no rows in English \('en'\) for 'valid' and 'test'"):
        Xsid(path=folder(tmp_path / "b" / "xsid", xsid=TEST)).splits()
    with pytest.raises(InputError, match="has no column 'lang', which task 'xsid' reads"):
        Xsid(path=folder(tmp_path / "c" / "xsid", xsid=[{"text": "x"}])).splits()
