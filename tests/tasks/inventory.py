"""A small inventory of senses, and sentences in which its words are requested about."""

import pyarrow as pa
from pyarrow import parquet

from niwaki.data import wordnet
from niwaki.tasks.wsd import SETS

from .rows import folder

# lemma, part of speech, number, how often seen, lexicographer file, gloss, above
INVENTORY = [
    ("film", "noun", 1, 5, 6, "a movie on a screen", []),
    ("film", "noun", 2, 1, 27, "a thin layer", []),
    ("film", "verb", 1, 2, 36, "record a movie", []),
    ("plot", "noun", 1, 3, 10, "the story of a movie", ["film-noun-1"]),
    ("plot", "noun", 2, 3, 15, "a small piece of ground", []),
    ("actor", "noun", 1, 0, 18, "one who acts", []),
]
DIGIT = {"noun": 1, "verb": 2}


def key(lemma, pos, number):
    return f"{lemma}%{DIGIT[pos]}:{number:02d}:00::"


def write_inventory(place, rows=INVENTORY):
    place.mkdir(parents=True, exist_ok=True)
    senses = [
        {
            "sense_key": key(lemma, pos, n),
            "lemma": lemma,
            "pos": pos,
            "synset": f"{lemma}-{pos}-{n}",
            "sense_number": n,
            "tag_count": seen,
        }
        for lemma, pos, n, seen, *_ in rows
    ]
    synsets = [
        {"synset": f"{lemma}-{pos}-{n}", "lexfile": file, "lemmas": [lemma], "gloss": gloss, "hypernyms": above}
        for lemma, pos, n, _, file, gloss, above in rows
    ]
    parquet.write_table(pa.Table.from_pylist(senses), place / "senses.parquet")
    parquet.write_table(pa.Table.from_pylist(synsets, wordnet.SYNSETS), place / "synsets.parquet")
    return place


def sentence(number=0, *, words=("the", "film", "was", "superb"), place=1, lemma="film", pos="NOUN", keys=None):
    lists = {"tokens": [*words, f"w{number}"], "lemmas": [*words, "x"], "pos": ["X"] * (len(words) + 1)}
    lists["lemmas"][place], lists["pos"][place] = lemma, pos
    senses = [None] * (len(words) + 1)
    senses[place] = keys or [key("film", "noun", 1 + number % 2)]
    return {**lists, "instance_ids": [one and f"t{number}" for one in senses], "sense_keys": senses}


def write_sets(home, as_xml=()):
    write_inventory(home / "wordnet30")
    folder(home / "semcor", semcor=[sentence(n) for n in range(20)])
    for number, name in enumerate(SETS):
        rows = [sentence(100 * (number + 1) + n) for n in range(number + 2)]
        if name in as_xml:
            write_xml(home / "wsd_raganato", name, rows)
        else:
            folder(home / "wsd_raganato", **{name: rows})
    return str(home)


def write_xml(home, name, rows):
    home.mkdir(parents=True, exist_ok=True)
    lines, keys = [], []
    for row in rows:
        lines.append("<sentence>")
        for token, lemma, pos, one, senses in zip(
            *(row[k] for k in ("tokens", "lemmas", "pos", "instance_ids", "sense_keys")), strict=True
        ):
            kind, more = ("instance", f' id="{one}"') if one else ("wf", "")
            lines.append(f'<{kind}{more} lemma="{lemma}" pos="{pos}">{token}</{kind}>')
            keys += [f"{one} {' '.join(senses)}"] if one else []
        lines.append("</sentence>")
    (home / f"{name}.data.xml").write_text(f"<corpus>{''.join(lines)}</corpus>")
    (home / f"{name}.gold.key.txt").write_text("\n".join(keys))
