"""COGS: splits, categories, scores and grammar."""

import numpy as np
import pytest

from niwaki.answers._grammar import read
from niwaki.core.errors import InputError
from niwaki.tasks.cogs import CATEGORIES, Cogs
from tasks.rows import counts, folder

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


def test_generalization_set_has_a_score_for_each_category(cogs):
    assert counts(cogs) == {"train": 20, "validation": 5, "test": 6, "gen": 8} and cogs.data.tests == ["test", "gen"]
    rows = cogs.splits()["gen"]
    predicted = cogs.gold(rows)
    predicted[1] = predicted[3] = "Emma"
    assert cogs.scorer.scores(cogs.scorer.example_stats(predicted, rows)) == {
        "exact": 0.75,
        "exact_active_to_passive": 1.0,
        "exact_cp_recursion": 0.5,
    }
    assert cogs.scorer.scores(cogs.scorer.example_stats(cogs.gold(cogs.splits()["test"]), cogs.splits()["test"])) == {
        "exact": 1.0
    }


def test_spaces_in_formulas_are_ignored(cogs):
    rows = cogs.splits()["test"].slice(0, 1)
    assert cogs.scorer.example_stats(["sleep  . agent (x _ 0,Emma)"], rows)[0, 0] == 1
    assert cogs.scorer.example_stats(["sleep . agent ( x _ 0 , Liam )"], rows)[0, 0] == 0


def test_model_generates_by_a_grammar(cogs):
    assert cogs.answer_type.grammar and set(cogs.files()) == {"target.json", "grammar.json"}
    grammar = read(cogs.files()["grammar.json"], cogs.answer_type.target)
    assert all(
        grammar.accepts(cogs.answer_type.target.encode(cogs.separate_symbols(gold)).ids)
        for gold in cogs.gold(cogs.splits()["train"])
    )


@pytest.mark.parametrize("settings", [{"well_formed": False}, {"split": "characters"}])
def test_grammar_is_optional(tmp_path, cogs, settings):
    task = Cogs(path=cogs.path, **settings)
    assert set(task.files()) == {"target.json"} and not task.answer_type.grammar


def test_missing_generalization_set_or_categories_are_rejected(tmp_path):
    folder(tmp_path / "a", train=cogs_rows(9), test=cogs_rows(3))
    with pytest.raises(InputError, match="has no gen rows, which task 'cogs' needs"):
        Cogs(path=str(tmp_path / "a")).splits()
    bare = [{key: row[key] for key in ("sentence", "logical_form")} for row in cogs_rows(9)]
    folder(tmp_path / "b", train=bare, test=bare, gen=bare)
    with pytest.raises(InputError, match="has no column 'category', which task 'cogs' reads"):
        Cogs(path=str(tmp_path / "b")).splits()


def test_original_format_is_read(tmp_path):
    """Tab-separated, without a header."""
    for part, count in (("train", 20), ("dev", 5), ("test", 6), ("gen", 7)):
        lines = ["\t".join(row.values()) for row in cogs_rows(count)]
        (tmp_path / f"{part}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    task = Cogs(path=str(tmp_path))
    assert counts(task) == {"train": 20, "validation": 5, "test": 6, "gen": 7}
    assert task.inputs(task.splits()["gen"])[:2] == ["Emma slept 0 .", "Liam slept 1 ."]


def test_example_stats_can_be_resampled(cogs):
    rows = cogs.splits()["gen"]
    example_stats = cogs.scorer.example_stats(cogs.gold(rows), rows)
    assert example_stats.shape == (8, 2) and cogs.scorer.scores(example_stats[np.array([0, 0, 2])]) == {"exact": 1.0}
