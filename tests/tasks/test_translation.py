"""Translations: your own pairs, and Multi30k laid out as it comes."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.multi30k import Multi30k
from niwaki.tasks.translation import Translation

from .rows import TEXTS, counts, csv, folder

NAMES = {"text": "en", "target": "de"}


def row(number, languages=("en", "de", "fr", "cs")):
    return {name: f"{name} {TEXTS[number % 80]} {number}" for name in languages}


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


def test_your_own_pairs(tmp_path):
    path = csv(
        tmp_path / "rows.csv", "en,de", [f"{text} {number},zu {number} {text}" for number, text in enumerate(TEXTS)]
    )
    task = Translation(path=path, **NAMES)
    test = task.splits()["test"]
    gold = task.gold(test)
    assert all(target.startswith("zu ") for target in gold) and task.metric == "bleu"
    found = task.scorer.scores(task.scorer.example_stats(gold, test))
    assert found == pytest.approx({"bleu": 1, "chrf": 1, "exact": 1})
    separate_symbols = task.scorer.scores(
        task.scorer.example_stats([f" {text.replace(' ', '  ')}\n" for text in gold], test)
    )
    assert separate_symbols == pytest.approx(found)  # spaces are no part of a translation
    assert task.scorer.scores(task.scorer.example_stats([""] * len(gold), test)) == {"bleu": 0, "chrf": 0, "exact": 0}


def test_what_a_reader_must_know_has_sacrebleus_signature(tmp_path):
    path = csv(tmp_path / "rows.csv", "en,de", [f"{text} {number},x" for number, text in enumerate(TEXTS)])
    said = Translation(path=path, **NAMES).data.caveats
    assert "divided by 100: BLEU nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in said


@pytest.mark.parametrize("inside", [True, False], ids=["folder of tasks", "its own folder"])
def test_multi30k_as_it_comes(multi30k, tmp_path, inside):
    task = Multi30k(path=str(tmp_path) if inside else multi30k)
    assert counts(task) == {"train": 40, "validation": 6, "test": 7, "test_2017_mscoco": 5, "test_2018_flickr": 4}
    assert task.data.tests == ["test", "test_2017_mscoco", "test_2018_flickr"]
    test = task.splits()["test"]
    assert task.inputs(test)[0] == row(200)["en"] and task.gold(test)[0] == row(200)["de"]


def test_multi30k_any_way(multi30k):
    test = Multi30k(path=multi30k, languages="fr-en").splits()["test"]
    assert test.column("text")[0].as_py() == row(200)["fr"] and test.column("target")[0].as_py() == row(200)["en"]
    assert counts(Multi30k(path=multi30k, languages="en-cs")).keys() == {
        "train",
        "validation",
        "test",
        "test_2018_flickr",
    }


def test_multi30k_tells_pairs_apart_in_its_fingerprint(multi30k):
    prints = {Multi30k(path=multi30k, languages=pair).data.fingerprint() for pair in ("en-de", "en-fr", "de-en")}
    assert len(prints) == 3


@pytest.mark.parametrize("languages", ["en", "en-", "-de", "en-en", "en-de-fr", "", 3])
def test_wrong_languages(languages):
    with pytest.raises(ValueError, match="languages"):
        Multi30k(path="x", languages=languages)


def test_what_is_not_there_is_refused(multi30k, tmp_path):
    with pytest.raises(InputError, match=r"data.languages: the train rows have no 'it'"):
        Multi30k(path=multi30k, languages="en-it").splits()
    part = folder(tmp_path / "part", train=[row(1)], val=[row(2)])
    with pytest.raises(InputError, match="has no test_2016_flickr rows"):
        Multi30k(path=part).splits()
    empty = csv(tmp_path / "rows.csv", "en,de", ["a,b", "c,"])
    with pytest.raises(InputError, match="empty cells"):
        Translation(path=empty, **NAMES).splits()


def test_answers_from_a_file():
    task = Translation(path="x")
    assert task.scorer.parse_value("ein Haus") == "ein Haus" and task.scorer.parse_value(None) == ""
    with pytest.raises(TypeError, match="given: int"):
        task.scorer.parse_value(3)
