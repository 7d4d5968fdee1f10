"""Example sentences in glosses as train rows."""

from niwaki.tasks.senses import Senses
from tasks.inventory import key, sentence, write_inventory
from tasks.rows import jsonl
from tasks.sense_rows import ROWS


def test_example_sentences_become_train_rows(tmp_path):
    """Of a lemma with several senses, under the first word that is a form of it; the other rows stay as they are."""
    shown = [
        (
            "film",
            "verb",
            1,
            2,
            36,
            'record; "they Filmed it and films rolled"; "a film"',
            [],
        ),  # a noun too, as its forms are
        ("film", "noun", 1, 5, 6, 'a movie; "nothing of it"; "ten movies"', []),
        ("actor", "noun", 1, 0, 18, 'one who acts; "an actor"', []),
        ("film_over", "verb", 1, 0, 1, 'x; "it flam over"', []),
        ("film_over", "verb", 2, 0, 1, "y", []),
    ]
    write_inventory(tmp_path / "wordnet30", shown)
    odd = [
        sentence(n, words=("it", "flam"), pos="VERB", keys=[key("film", "verb", 1)]) for n in range(9)
    ]  # a form to learn
    path = jsonl(tmp_path / "rows.jsonl", [*ROWS, *odd])
    bare, more = (Senses(path=path, glosses="words", examples=on).splits() for on in (False, True))
    added = more["train"].slice(bare["train"].num_rows).to_pylist()
    supplied = [(row["text"], row["words"], row["lemmas"], row["pos"], row["senses"]) for row in added]
    assert supplied == [
        ("they Filmed it and films rolled", [1], ["film"], ["verb"], [[key("film", "verb", 1)]]),
        ("a film", [1], ["film"], ["verb"], [[key("film", "verb", 1)]]),
        ("it flam over", [1], ["film_over"], ["verb"], [[key("film_over", "verb", 1)]]),
    ]
    assert added[2]["tokens"] == ["it", "flam over"] and added[1]["ids"] == ["film-verb-1.1"]
    assert more["train"].slice(0, bare["train"].num_rows) == bare["train"] and more["test"] == bare["test"]
