"""GeoQuery: splits, execution and recombination."""

import shutil

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.atis import Atis
from niwaki.tasks.geoquery import Geoquery
from tasks import geography
from tasks.rows import counts, folder

STATES = ["west", "middle", "new east", "island"]
PREDICTED = {
    "funql": [
        "answer(population_1(state(stateid('west'))))",
        "answer ( population_1 ( stateid ( ' middle ' ) ) )",
        "answer(population_1(stateid('west')))",
        "answer(",
    ],
    "sql": [
        'SELECT POPULATION FROM STATE WHERE STATE_NAME IN ( " west " ) ;',
        'SELECT S.POPULATION FROM STATE AS S WHERE S.STATE_NAME = " middle " ;',
        "SELECT 100",
        "DROP TABLE STATE",
    ],
}


def geo_row(n, split):
    state = STATES[n % 4]
    return {
        "question_split": split,
        "en": f"How many people live in {state.title()} {n} ?",
        "de": f"Wie viele in {state} {n}" if n % 2 else None,
        "funql": f"answer(population_1(stateid('{state}')))",
        "prolog": f"answer(A,(population(B,A),const(B,stateid('{state}'))))",
        "sql": f'SELECT S.POPULATION FROM STATE AS S WHERE S.STATE_NAME = "{state}" ;',
    }


@pytest.fixture
def geo(tmp_path):
    rows = [
        geo_row(n, split)
        for split, some in (("train", range(12)), ("dev", range(12, 16)), ("test", range(16, 20)))
        for n in some
    ]
    folder(tmp_path / "geoquery", geoquery=rows)
    geography.write(tmp_path / "geoquery" / "geography.sqlite")
    return tmp_path


def test_splits_are_by_question_without_untranslated_rows(geo):
    task = Geoquery(path=str(geo))
    assert counts(task) == {"train": 12, "validation": 4, "test": 4}
    assert task.inputs(task.splits()["test"])[2] == "how many people live in new east 18 ?"
    assert counts(Geoquery(path=str(geo), language="de")) == {"train": 6, "validation": 2, "test": 2}


@pytest.mark.parametrize("meaning", PREDICTED)
def test_formula_with_the_same_denotation_is_correct(geo, meaning):
    """Of four: another formula with the same answer, the same, one with another answer, and none."""
    task = Geoquery(path=str(geo), meaning=meaning)
    example_stats = task.scorer.example_stats(PREDICTED[meaning], task.splits()["test"])
    assert example_stats.tolist() == [[0, 1], [1, 1], [0, 0], [0, 0]]
    assert task.scorer.scores(example_stats) == {"exact": 0.25, "executed": 0.5}


def test_empty_answer_is_correct_only_for_the_same_formula(geo):
    task = Geoquery(path=str(geo))
    row = task.splits()["test"].slice(0, 1)
    nothing = row.set_column(1, "target", [["answer(river(loc_2(stateid('island'))))"]])
    assert task.scorer.example_stats(["answer(lake(loc_2(stateid('nowhere'))))"], nothing).tolist() == [[0, 0]]
    assert task.scorer.example_stats(["answer(river(loc_2(stateid('island'))))"], nothing).tolist() == [[1, 1]]


def test_formulas_are_compared_without_a_database(geo):
    shutil.copytree(geo / "geoquery", geo / "bare", ignore=shutil.ignore_patterns("*.sqlite"))
    task = Geoquery(path=str(geo / "bare"))
    assert task.scorer.scores(task.scorer.example_stats(PREDICTED["funql"], task.splits()["test"])) == {"exact": 0.25}
    assert any("geography.sqlite: is not there" in predicted for predicted in task.data.remarks())
    assert task.data.fingerprint() != Geoquery(path=str(geo)).data.fingerprint()
    prolog = Geoquery(path=str(geo), meaning="prolog")
    assert set(prolog.scorer.scores(prolog.scorer.example_stats(["x"] * 4, prolog.splits()["test"]))) == {"exact"}
    with pytest.raises(InputError, match=r"data\.recombined: other names can be put into funql alone"):
        Geoquery(path=str(geo / "bare"), recombined=5).splits()


def test_recombination_uses_train_rows_and_is_reproducible(geo):
    task, again = (Geoquery(path=str(geo), recombined=9) for _ in range(2))
    train = task.splits()["train"]
    assert train.num_rows == 21 and train.equals(again.splits()["train"]) and counts(task)["test"] == 4
    assert len(set(task.inputs(train))) == 21
    for question, formula in zip(task.inputs(train), task.gold(train), strict=True):
        assert sum(state in question and f"'{state}'" in formula for state in STATES) == 1


@pytest.mark.parametrize("without", ["question_split", "en", "funql"])
def test_missing_columns_are_named(tmp_path, without):
    rows = [{key: value for key, value in geo_row(n, "train").items() if key != without} for n in range(9)]
    folder(tmp_path / "geoquery", geoquery=rows)
    with pytest.raises(InputError, match=f"has no column '{without}', which task 'geoquery' reads"):
        Geoquery(path=str(tmp_path)).splits()
    folder(tmp_path / "atis", train=rows, dev=rows, test=rows)
    with pytest.raises(InputError, match="has no column 'utterance', which task 'atis' reads"):
        Atis(path=str(tmp_path)).splits()
