"""The sense inventory of a task: vectors of glosses, irregular forms, fingerprint."""

import pytest

from niwaki.answers.senses import Target
from niwaki.core.errors import InputError
from niwaki.tasks import _sense_baselines as baselines
from niwaki.tasks._sense_inventories import irregular
from niwaki.tasks.senses import Senses
from tasks.inventory import INVENTORY, key, sentence, write_inventory
from tasks.rows import jsonl
from tasks.sense_rows import ROWS


def test_only_glosses_of_ambiguous_words_have_vectors(sense_task):
    sense_inventory = sense_task.inventories.complete
    assert (
        len(sense_inventory.vectors.codes) == 1 + 5
        and sense_inventory.row[sense_inventory.keys.index(key("actor", "noun", 1))] == 0
    )
    assert set(sense_task.files()) == set(sense_task.answer_type.required_files({}))


def test_irregular_forms_are_learned_from_the_train_rows(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    odd = [
        sentence(n, words=("we", "flimmed", "it"), lemma="film", pos="VERB", keys=[key("film", "verb", 1)])
        for n in range(9)
    ]
    named = [sentence(n, words=("in", "Rome", "it"), keys=[key("film", "noun", 1)]) for n in range(9)]
    plural = [sentence(n, words=("two", "films", "it")) for n in range(9)]
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", [*odd, *named, *plural]))
    assert irregular(task.splits()["train"], task.inventories.without_vectors) == {("flimmed", "verb"): "film"}


def test_fingerprint_depends_on_content_and_not_on_the_path(tmp_path):
    built = []
    for home, rows in (("a", INVENTORY), ("b", INVENTORY), ("c", INVENTORY[:-1])):
        write_inventory(tmp_path / home / "wordnet30", rows)
        path = jsonl(tmp_path / home / "rows.jsonl", ROWS)
        built.append(Senses(path=path, glosses="words").data.fingerprint())
    elsewhere = Senses(path=path, glosses="words", inventory=str(tmp_path / "a" / "wordnet30")).data.fingerprint()
    assert built[0] == built[1] == elsewhere != built[2]
    assert Senses(path=path, glosses="words", dimensions=7).data.fingerprint() != built[2]


def test_words_missing_from_the_inventory_are_reported(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    odd = [sentence(n, lemma="bunk", keys=["bunk%1:01:00::"]) for n in range(3)]
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", [*ROWS, *odd]))
    assert any(
        "words of the train rows are not in the inventory (bunk, noun …)" in remark for remark in task.data.remarks()
    )
    target = Target(0, "bunk", "noun")
    assert baselines.first_sense(task.inventories.without_vectors, target) is None


def test_missing_inventory_is_reported_with_its_setting(tmp_path):
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", ROWS))
    with pytest.raises(
        InputError, match=r"data\.inventory: needed for task 'senses' .* there is no 'wordnet30' next to"
    ):
        task.data.fingerprint()
