"""Multi30k: language pairs and splits."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.multi30k import Multi30k
from niwaki.tasks.translation import Translation
from tasks.rows import counts, csv, folder
from tasks.translations import NAMES, row


@pytest.fixture
def multi30k(tmp_path):
    def rows(start, count, *languages):
        return [row(number, languages or ("en", "de", "fr", "cs")) for number in range(start, start + count)]

    return folder(
        tmp_path / "multi30k",
        train=rows(0, 40),
        val=rows(100, 6),
        test_2016_flickr=rows(200, 7),
        test_2017_mscoco=rows(300, 5, "en", "de", "fr"),
        test_2018_flickr=rows(400, 4),
    )


@pytest.mark.parametrize("inside", [True, False], ids=["folder of tasks", "its own folder"])
def test_folders_are_read_as_published(multi30k, tmp_path, inside):
    task = Multi30k(path=str(tmp_path) if inside else multi30k)
    assert counts(task) == {"train": 40, "validation": 6, "test": 7, "test_2017_mscoco": 5, "test_2018_flickr": 4}
    assert task.data.tests == ["test", "test_2017_mscoco", "test_2018_flickr"]
    test = task.splits()["test"]
    assert task.inputs(test)[0] == row(200)["en"] and task.gold(test)[0] == row(200)["de"]


def test_every_direction_is_read(multi30k):
    test = Multi30k(path=multi30k, languages="fr-en").splits()["test"]
    assert test.column("text")[0].as_py() == row(200)["fr"] and test.column("target")[0].as_py() == row(200)["en"]
    assert counts(Multi30k(path=multi30k, languages="en-cs")).keys() == {
        "train",
        "validation",
        "test",
        "test_2018_flickr",
    }


def test_fingerprint_depends_on_the_language_pair(multi30k):
    prints = {Multi30k(path=multi30k, languages=pair).data.fingerprint() for pair in ("en-de", "en-fr", "de-en")}
    assert len(prints) == 3


@pytest.mark.parametrize("languages", ["en", "en-", "-de", "en-en", "en-de-fr", "", 3])
def test_unknown_languages_are_rejected(languages):
    with pytest.raises(ValueError, match="languages"):
        Multi30k(path="x", languages=languages)


def test_missing_files_are_rejected(multi30k, tmp_path):
    with pytest.raises(InputError, match=r"data.languages: the train rows have no 'it'"):
        Multi30k(path=multi30k, languages="en-it").splits()
    part = folder(tmp_path / "part", train=[row(1)], val=[row(2)])
    with pytest.raises(InputError, match="has no test_2016_flickr rows"):
        Multi30k(path=part).splits()
    empty = csv(tmp_path / "rows.csv", "en,de", ["a,b", "c,"])
    with pytest.raises(InputError, match="empty cells"):
        Translation(path=empty, **NAMES).splits()
