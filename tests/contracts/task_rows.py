"""Rows of every kind of task, made up of the words that a tiny model knows, with something in them to learn."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import tiny

Row = dict[str, Any]
TASKS = (
    "classification",
    "regression",
    "multilabel",
    "tagging",
    "question_answering",
    "choice",
    "senses",
    "roles",
    "generation",
    "image_classification",
)
SHORT: dict[str, dict[str, Any]] = {
    "question_answering": {"max_tokens": 32, "stride": 8},
    "senses": {"glosses": "words", "dimensions": 6},
    "generation": {"split": "words", "max_new_tokens": 6, "beam": 2, "label_smoothing": 0.0},
}  # settings that make long texts of rather short ones, ask for no pretrained encoder, and write little
ADD_DECODER = {"use": "add_decoder", "layers": 2}  # turns the tiny encoder into a seq2seq model
LEMMAS = ["film", "plot"]
WORDS = {"good": tiny.GOOD, "bad": tiny.BAD}


def classification(draw: random.Random, words: list[str]) -> Row:
    return {"text": " ".join(words), "label": "good" if _count(words) > 0 else "bad"}


def regression(draw: random.Random, words: list[str]) -> Row:
    return {"text": " ".join(words), "rating": 1000.0 + 250.0 * _count(words) + draw.random()}


def multilabel(draw: random.Random, words: list[str]) -> Row:
    found = [name for name, some in WORDS.items() if set(words) & set(some)]
    return {"text": " ".join(words), "labels": found + ["film"] * ("film" in words)}


def tagging(draw: random.Random, words: list[str]) -> Row:
    tags = ["B-GOOD" if word in tiny.GOOD else "B-BAD" if word in tiny.BAD else "O" for word in words]
    return {"tokens": words, "tags": tags}


def answering(draw: random.Random, words: list[str]) -> Row:
    """Which word of the kind is in the text; in some there is none."""
    kind = draw.choice(["good", "bad"])
    found = [word for word in words if word in WORDS[kind]][:1]
    text = " ".join(words)
    starts = [f" {text} ".index(f" {word} ") for word in found]
    return {"question": f"the {kind} start", "context": text, "answers": {"text": found, "answer_start": starts}}


def choice(draw: random.Random, words: list[str]) -> Row:
    """The good ending is the right one."""
    endings = [draw.choice(tiny.GOOD), *draw.sample(tiny.BAD, 2)]
    right, place = endings[0], draw.randrange(3)
    endings[0], endings[place] = endings[place], endings[0]
    return {"ctx": " ".join(words), "endings": [f"it was {word}" for word in endings], "label": endings.index(right)}


def senses(draw: random.Random, words: list[str]) -> Row:
    """`film` and `plot` are good or bad ones, as the words next to them are."""
    sense = 1 if _count(words) > 0 else 2
    keys = [[f"{word}%1:0{sense}:00::"] if word in LEMMAS else None for word in words]
    return {"tokens": words, "lemmas": words, "pos": ["NOUN"] * len(words), "sense_keys": keys}


def roles(draw: random.Random, words: list[str]) -> Row:
    """Good and bad words are predicates, of two senses; the word before them and the two after them are their arguments."""
    predicates = [at for at, word in enumerate(words) if word in (*tiny.GOOD, *tiny.BAD)]
    found = [(place, "ARG0", at - 1, at) for place, at in enumerate(predicates) if at and words[at - 1] in tiny.PLAIN]
    found += [
        (place, "ARG1", at + 1, at + 3)
        for place, at in enumerate(predicates)
        if set(words[at + 1 : at + 3]) <= set(tiny.PLAIN)
    ]
    found = [one for one in found if one[3] <= len(words)]
    return {
        "tokens": words,
        "predicates": predicates,
        "rolesets": [f"{words[at]}.{'01' if words[at] in tiny.GOOD else '02'}" for at in predicates],
        "args": [
            {"predicate": place, "start": start, "end": end, "label": label} for place, label, start, end in found
        ],
    }


def writing(draw: random.Random, words: list[str]) -> Row:
    """The good and the bad words, the last one first."""
    found = [word for word in reversed(words) if word in (*tiny.GOOD, *tiny.BAD)]
    return {"source": " ".join(words), "target": " ".join(found) or "none"}


KINDS: dict[str, Callable[[random.Random, list[str]], Row]] = {
    "classification": classification,
    "regression": regression,
    "multilabel": multilabel,
    "tagging": tagging,
    "question_answering": answering,
    "choice": choice,
    "senses": senses,
    "roles": roles,
    "generation": writing,
}


def rows(task: str, count: int = 90, seed: int = 0) -> list[Row]:
    draw = random.Random(f"{task}/{seed}")
    rows_by_text: dict[str, Row] = {}
    while len(rows_by_text) < count:
        words = draw.choices(tiny.PLAIN, k=draw.randint(2, 34 if task == "question_answering" else 9))
        words += draw.choices(tiny.GOOD, k=draw.randint(0, 2)) + draw.choices(tiny.BAD, k=draw.randint(0, 2))
        words += draw.choices(LEMMAS, k=2) if task == "senses" else []
        draw.shuffle(words)
        rows_by_text.setdefault(" ".join(words), KINDS[task](draw, words))
    return list(rows_by_text.values())


def write(task: str, folder: Path, count: int = 90) -> Path:
    if task == "image_classification":
        return images(folder / "rows.npz", count)
    path = folder / f"{task}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows(task, count)), encoding="utf-8")
    if task == "senses":
        inventory(folder / "wordnet30")
    return path


def images(path: Path, count: int) -> Path:
    """Bright and dark ones."""
    draw, bright = np.random.default_rng(0), np.arange(count) % 2
    pixels = draw.integers(0, 160, (count, 9, 13, 3)) + 95 * bright[:, None, None, None]
    np.savez(path, images=pixels.astype(np.uint8), labels=np.array(["dark", "bright"])[bright])
    return path


def inventory(folder: Path) -> Path:
    """Two lemmas of two senses each, and one of a single sense."""
    folder.mkdir()
    senses = [(lemma, number) for lemma in LEMMAS for number in (1, 2)] + [("actor", 1)]
    glosses = {1: "a good and superb one", 2: "a bad one, dull and weak"}
    rows = [
        {
            "sense_key": f"{lemma}%1:0{n}:00::",
            "lemma": lemma,
            "pos": "noun",
            "synset": f"{lemma}{n}-n",
            "sense_number": n,
            "tag_count": 3 - n,
        }
        for lemma, n in senses
    ]
    synsets = [
        {"synset": f"{lemma}{n}-n", "lexfile": n, "lemmas": [lemma], "gloss": f"{lemma}: {glosses[n]}", "hypernyms": []}
        for lemma, n in senses
    ]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "senses.parquet")
    parquet.write_table(pa.Table.from_pylist(synsets), folder / "synsets.parquet")
    return folder


def _count(words: list[str]) -> int:
    return sum(word in tiny.GOOD for word in words) - sum(word in tiny.BAD for word in words)
