"""Tasks whose answers are formulas."""

import pytest

from niwaki.answers._grammar import read
from niwaki.core.errors import InputError
from niwaki.tasks.atis import Atis
from niwaki.tasks.cogs import Cogs
from niwaki.tasks.geoquery import Geoquery
from niwaki.tasks.parsing import Parsing
from niwaki.tasks.scan import Scan
from tasks.rows import jsonl


@pytest.mark.parametrize("task", [Cogs, Scan, Geoquery, Atis])
def test_missing_folder_is_rejected(tmp_path, task):
    with pytest.raises(InputError, match=r"data\.path: needed"):
        task().splits()
    with pytest.raises(InputError):
        task(path=str(tmp_path / "nowhere")).splits()
    (tmp_path / "file.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError):
        task(path=str(tmp_path / "file.csv")).splits()


@pytest.mark.parametrize("notation", ["calls", "lists", ""])
def test_formulas_of_the_user_are_read(tmp_path, notation):
    formula = {"calls": "ask(name('{0} x'), _)", "lists": "( ask ( name n{0} ) all )", "": "ask {0}"}[notation]
    rows = [{"predicted": f"who is {n}", "meant": formula.format(n)} for n in range(40)]
    task = Parsing(path=jsonl(tmp_path / "own.jsonl", rows), text="predicted", target="meant", notation=notation)
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


def test_invalid_formulas_of_the_user_are_named(tmp_path):
    rows = [{"predicted": f"who is {n}", "meant": "ask(" if n % 2 else "ask(a)"} for n in range(40)]
    task = Parsing(path=jsonl(tmp_path / "own.jsonl", rows), text="predicted", target="meant", notation="calls")
    with pytest.raises(InputError, match="of the train rows is no formula in calls"):
        task.files()
    assert isinstance(
        Parsing(path=task.path, text="predicted", target="meant", notation="calls", well_formed=False).files(), dict
    )
