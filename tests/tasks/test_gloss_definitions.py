"""Definitions of senses as train rows."""

from niwaki.tasks.senses import Senses
from tasks.inventory import INVENTORY, key, write_inventory
from tasks.rows import jsonl
from tasks.sense_rows import ROWS


def test_definitions_of_other_senses_become_train_rows(tmp_path):
    """Without the examples, and not of first senses."""
    rows = [*INVENTORY[:1], ("film", "noun", 2, 1, 27, 'a thin layer (of oil); "a film on it"', []), *INVENTORY[2:5]]
    write_inventory(tmp_path / "wordnet30", [*rows, ("film_over", "verb", 2, 0, 1, "cloud", [])])
    path = jsonl(tmp_path / "rows.jsonl", ROWS)
    bare, more = (Senses(path=path, glosses="words", definitions=on).splits()["train"] for on in (False, True))
    added = more.slice(bare.num_rows).to_pylist()
    assert more.slice(0, bare.num_rows) == bare
    assert [(row["text"], row["words"], row["lemmas"], row["pos"], row["senses"]) for row in added] == [
        ("film : a thin layer ( of oil )", [0], ["film"], ["noun"], [[key("film", "noun", 2)]]),
        ("film over : cloud", [0], ["film_over"], ["verb"], [[key("film_over", "verb", 2)]]),
        ("plot : a small piece of ground", [0], ["plot"], ["noun"], [[key("plot", "noun", 2)]]),
    ]
    assert added[1]["tokens"][0] == "film over" and len({row["ids"][0] for row in added}) == 3
