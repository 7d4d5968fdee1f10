"""Tasks whose answers are formulas, on small files laid out as their sets are."""

import shutil

import numpy as np
import pytest

from niwaki.answers._grammar import read
from niwaki.core.errors import InputError
from niwaki.tasks.atis import Atis
from niwaki.tasks.cogs import CATEGORIES, Cogs
from niwaki.tasks.geoquery import Geoquery
from niwaki.tasks.parsing import Parsing
from niwaki.tasks.scan import Scan

from . import geography
from .rows import counts, folder, jsonl

# ── COGS ────────────────────────────────────────────────────────────────────────────────────────────────────────────

NAMES = ["Emma", "Liam", "Noah", "Ava"]


def cogs_rows(count, category="in_distribution"):
    return [
        {"sentence": f"{name} slept {n} .", "logical_form": f"sleep . agent ( x _ {n} , {name} )", "category": category}
        for n, name in ((n, NAMES[n % 4]) for n in range(count))
    ]


@pytest.fixture
def cogs(tmp_path):
    general = [{**row, "category": CATEGORIES[n % 2], "lf_variable_free": "x"} for n, row in enumerate(cogs_rows(8))]
    folder(tmp_path / "cogs", train=cogs_rows(20), dev=cogs_rows(5), test=cogs_rows(6), gen=general)
    return Cogs(path=str(tmp_path))


def test_cogs_has_two_tests_and_a_score_for_each_category_of_the_second(cogs):
    assert counts(cogs) == {"train": 20, "validation": 5, "test": 6, "gen": 8} and cogs.data.tests == ["test", "gen"]
    rows = cogs.splits()["gen"]
    said = cogs.gold(rows)
    said[1] = said[3] = "Emma"
    assert cogs.scorer.scores(cogs.scorer.example_stats(said, rows)) == {
        "exact": 0.75,
        "exact_active_to_passive": 1.0,
        "exact_cp_recursion": 0.5,
    }
    assert cogs.scorer.scores(cogs.scorer.example_stats(cogs.gold(cogs.splits()["test"]), cogs.splits()["test"])) == {
        "exact": 1.0
    }


def test_spaces_mean_nothing(cogs):
    rows = cogs.splits()["test"].slice(0, 1)
    assert cogs.scorer.example_stats(["sleep  . agent (x _ 0,Emma)"], rows)[0, 0] == 1
    assert cogs.scorer.example_stats(["sleep . agent ( x _ 0 , Liam )"], rows)[0, 0] == 0


def test_a_model_of_cogs_writes_by_a_grammar(cogs):
    assert cogs.answer_type.grammar and set(cogs.files()) == {"target.json", "grammar.json"}
    grammar = read(cogs.files()["grammar.json"], cogs.answer_type.target)
    assert all(
        grammar.accepts(cogs.answer_type.target.encode(cogs.separate_symbols(gold)).ids)
        for gold in cogs.gold(cogs.splits()["train"])
    )


@pytest.mark.parametrize("settings", [{"well_formed": False}, {"split": "characters"}])
def test_a_grammar_can_be_left_out_and_is_of_words_alone(tmp_path, cogs, settings):
    task = Cogs(path=cogs.path, **settings)
    assert set(task.files()) == {"target.json"} and not task.answer_type.grammar


def test_cogs_without_its_second_test_or_categories_is_refused(tmp_path):
    folder(tmp_path / "a", train=cogs_rows(9), test=cogs_rows(3))
    with pytest.raises(InputError, match="has no gen rows, which task 'cogs' needs"):
        Cogs(path=str(tmp_path / "a")).splits()
    bare = [{key: row[key] for key in ("sentence", "logical_form")} for row in cogs_rows(9)]
    folder(tmp_path / "b", train=bare, test=bare, gen=bare)
    with pytest.raises(InputError, match="has no column 'category', which task 'cogs' reads"):
        Cogs(path=str(tmp_path / "b")).splits()


def test_cogs_is_read_as_its_authors_wrote_it(tmp_path):
    """Tab-separated, without a header."""
    for part, count in (("train", 20), ("dev", 5), ("test", 6), ("gen", 7)):
        lines = ["\t".join(row.values()) for row in cogs_rows(count)]
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    task = Cogs(path=str(tmp_path))
    assert counts(task) == {"train": 20, "validation": 5, "test": 6, "gen": 7}
    assert task.inputs(task.splits()["gen"])[:2] == ["Emma slept 0 .", "Liam slept 1 ."]


# ── SCAN ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_scan_is_cut_as_is_said(tmp_path):
    rows = [{"split": "x", "command": f"jump {n}", "actions": f"I_JUMP I_RUN_{n}"} for n in range(60)]
    parts = {"simple-train": rows[:40], "simple-test": rows[40:], "length-train": rows[:30], "length-test": rows[30:]}
    folder(tmp_path / "scan", **parts)
    task = Scan(path=str(tmp_path))
    assert counts(task) == {"train": 38, "validation": 2, "test": 20} and task.grammar() == b""
    assert counts(Scan(path=str(tmp_path), which="length"))["test"] == 30
    test = task.splits()["test"]
    assert task.inputs(test)[0] == "jump 40" and task.scorer.scores(
        task.scorer.example_stats(["I_JUMP"] * 20, test)
    ) == {"exact": 0.0}
    with pytest.raises(InputError, match=r"has no addprim_jump-train\.parquet, which task 'scan' needs"):
        Scan(path=str(tmp_path), which="addprim_jump").splits()


# ── ATIS ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_order_counts_in_one_score_of_atis_and_not_in_the_other(tmp_path):
    row = {
        "utterance": "from ci0 to ci1",
        "logical_form": "( lambda $0 e ( and ( from $0 ci0 ) ( to $0 ci1 ) ( flight $0 ) ) )",
    }
    rows = [{**row, "utterance": f"{row['utterance']} {n}"} for n in range(12)]
    folder(tmp_path / "atis", train=rows, dev=rows[:4], test=rows[:4])
    task = Atis(path=str(tmp_path))
    other = "( lambda $0 e ( and ( flight $0 ) ( to $0 ci1 ) ( from $0 ci0 ) ) )"
    wrong = "( lambda $0 e ( and ( flight $0 ) ( to $0 ci0 ) ( from $0 ci1 ) ) )"
    example_stats = task.scorer.example_stats([row["logical_form"], other, wrong, "( lambda"], task.splits()["test"])
    assert example_stats.tolist() == [[1, 1], [0, 1], [0, 0], [0, 0]]
    assert task.scorer.scores(example_stats) == {"exact": 0.25, "exact_unordered": 0.5}


# ── GeoQuery ────────────────────────────────────────────────────────────────────────────────────────────────────────

STATES = ["west", "middle", "new east", "island"]


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


def test_geoquery_is_cut_by_its_questions_and_rows_without_a_text_are_left_out(geo):
    task = Geoquery(path=str(geo))
    assert counts(task) == {"train": 12, "validation": 4, "test": 4}
    assert task.inputs(task.splits()["test"])[2] == "how many people live in new east 18 ?"
    assert counts(Geoquery(path=str(geo), language="de")) == {"train": 6, "validation": 2, "test": 2}


SAID = {
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


@pytest.mark.parametrize("meaning", SAID)
def test_a_formula_that_denotes_the_same_is_executed_right(geo, meaning):
    """Of four: another formula with the same answer, the same, one with another answer, and none."""
    task = Geoquery(path=str(geo), meaning=meaning)
    example_stats = task.scorer.example_stats(SAID[meaning], task.splits()["test"])
    assert example_stats.tolist() == [[0, 1], [1, 1], [0, 0], [0, 0]]
    assert task.scorer.scores(example_stats) == {"exact": 0.25, "executed": 0.5}


def test_an_answer_that_is_nothing_is_right_only_where_the_formula_is(geo):
    task = Geoquery(path=str(geo))
    row = task.splits()["test"].slice(0, 1)
    nothing = row.set_column(1, "target", [["answer(river(loc_2(stateid('island'))))"]])
    assert task.scorer.example_stats(["answer(lake(loc_2(stateid('nowhere'))))"], nothing).tolist() == [[0, 0]]
    assert task.scorer.example_stats(["answer(river(loc_2(stateid('island'))))"], nothing).tolist() == [[1, 1]]


def test_without_a_database_formulas_are_compared_alone(geo):
    shutil.copytree(geo / "geoquery", geo / "bare", ignore=shutil.ignore_patterns("*.sqlite"))
    task = Geoquery(path=str(geo / "bare"))
    assert task.scorer.scores(task.scorer.example_stats(SAID["funql"], task.splits()["test"])) == {"exact": 0.25}
    assert any("geography.sqlite: is not there" in said for said in task.data.remarks())
    assert task.data.fingerprint() != Geoquery(path=str(geo)).data.fingerprint()
    prolog = Geoquery(path=str(geo), meaning="prolog")
    assert set(prolog.scorer.scores(prolog.scorer.example_stats(["x"] * 4, prolog.splits()["test"]))) == {"exact"}
    with pytest.raises(InputError, match=r"data\.recombined: other names can be put into funql alone"):
        Geoquery(path=str(geo / "bare"), recombined=5).splits()


def test_recombined_rows_are_of_train_alone_and_the_same_each_time(geo):
    task, again = (Geoquery(path=str(geo), recombined=9) for _ in range(2))
    train = task.splits()["train"]
    assert train.num_rows == 21 and train.equals(again.splits()["train"]) and counts(task)["test"] == 4
    assert len(set(task.inputs(train))) == 21
    for question, formula in zip(task.inputs(train), task.gold(train), strict=True):
        assert sum(state in question and f"'{state}'" in formula for state in STATES) == 1


@pytest.mark.parametrize("without", ["question_split", "en", "funql"])
def test_columns_that_are_not_there_are_named(tmp_path, without):
    rows = [{key: value for key, value in geo_row(n, "train").items() if key != without} for n in range(9)]
    folder(tmp_path / "geoquery", geoquery=rows)
    with pytest.raises(InputError, match=f"has no column '{without}', which task 'geoquery' reads"):
        Geoquery(path=str(tmp_path)).splits()
    folder(tmp_path / "atis", train=rows, dev=rows, test=rows)
    with pytest.raises(InputError, match="has no column 'utterance', which task 'atis' reads"):
        Atis(path=str(tmp_path)).splits()


@pytest.mark.parametrize("task", [Cogs, Scan, Geoquery, Atis])
def test_a_place_where_nothing_is_is_refused(tmp_path, task):
    with pytest.raises(InputError, match=r"data\.path: needed"):
        task().splits()
    with pytest.raises(InputError):
        task(path=str(tmp_path / "nowhere")).splits()
    (tmp_path / "file.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError):
        task(path=str(tmp_path / "file.csv")).splits()


# ── one's own ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("notation", ["calls", "lists", ""])
def test_own_formulas(tmp_path, notation):
    formula = {"calls": "ask(name('{0} x'), _)", "lists": "( ask ( name n{0} ) all )", "": "ask {0}"}[notation]
    rows = [{"said": f"who is {n}", "meant": formula.format(n)} for n in range(40)]
    task = Parsing(path=jsonl(tmp_path / "own.jsonl", rows), text="said", target="meant", notation=notation)
    assert set(task.files()) == ({"target.json", "grammar.json"} if notation else {"target.json"})
    test = task.splits()["test"]
    assert task.scorer.scores(
        task.scorer.example_stats([task.separate_symbols(gold) for gold in task.gold(test)], test)
    ) == {"exact": 1.0}
    if notation:
        grammar = read(task.files()["grammar.json"], task.answer_type.target)
        assert grammar.accepts(
            task.answer_type.target.encode(task.separate_symbols(task.gold(task.splits()["train"])[0])).ids
        )


def test_own_formulas_that_are_none_are_named(tmp_path):
    rows = [{"said": f"who is {n}", "meant": "ask(" if n % 2 else "ask(a)"} for n in range(40)]
    task = Parsing(path=jsonl(tmp_path / "own.jsonl", rows), text="said", target="meant", notation="calls")
    with pytest.raises(InputError, match="of the train rows is no formula in calls"):
        task.files()
    assert isinstance(
        Parsing(path=task.path, text="said", target="meant", notation="calls", well_formed=False).files(), dict
    )


def test_outcomes_are_numbers_that_can_be_drawn(cogs):
    rows = cogs.splits()["gen"]
    example_stats = cogs.scorer.example_stats(cogs.gold(rows), rows)
    assert example_stats.shape == (8, 2) and cogs.scorer.scores(example_stats[np.array([0, 0, 2])]) == {"exact": 1.0}
