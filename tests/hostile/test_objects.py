"""Invalid objects and files, given to every Python entry point: one line that names the problem, and nothing is written."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest

import niwaki
import tiny
from niwaki.core.errors import NiwakiError
from niwaki.data.objects import to_table
from niwaki.engines.predictor import Predictor
from niwaki.estimators import Classifier

GOOD = [{"text": "a warm film", "label": "good"}, {"text": "a dull plot", "label": "bad"}]
FRAME = pd.DataFrame(GOOD)
MAX_CHARACTERS = 400


class Strange:
    pass


def nested(levels: int) -> list:
    inner: list = []
    for _ in range(levels):
        inner = [inner]
    return inner


# what `to_table` is given, and words of the message
TABLES: dict[str, tuple[object, str]] = {
    "nothing": (None, "type NoneType"),
    "a number": (5, "type int"),
    "an object": (Strange(), "type Strange"),
    "bytes": (b"text,label", "type bytes"),
    "an empty text": ("", "is an empty text"),
    "a text that is no path": ("x" * 5000, "is not a path"),
    "a missing file": ("nowhere.csv", "is not there"),
    "a spreadsheet": ("rows.xlsx", "is a spreadsheet"),
    "a file of another kind": ("rows.docx", "of a kind that is not read"),
    "an empty file": ("empty.jsonl", "is empty"),
    "a parquet file without an end": ("short.parquet", "cannot be read as parquet"),
    "a folder without rows": ("folder", "has no train file"),
    "a generator": ((row for row in GOOD), "pass list(data)"),
    "a set": ({"a", "b"}, "is a set"),
    "an empty list": ([], "has no rows"),
    "an empty frame": (FRAME[:0], "has no rows"),
    "a frame without columns": (pd.DataFrame(), "has no rows"),
    "the same column twice": (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "'text' is there 2 times"),
    "column names that are numbers": (pd.DataFrame([["a", "b"]]), "column names must be text (given: 0)"),
    "levels of column names": (pd.DataFrame({("a", "b"): ["c"]}), "column names must be text"),
    "a lazy frame": (pl.LazyFrame(GOOD), "pass data.collect()"),
    "a streamed dataset": (datasets.Dataset.from_list(GOOD).to_iterable_dataset(), "without streaming=True"),
    "splits without train": ({"test": FRAME}, "has no split 'train'"),
    "two train splits": ({"train": FRAME, "training": FRAME}, "same role"),
    "numbers for texts": ([1, 2], "holds int64 values where texts (str) are needed"),
    "bytes for texts": ([b"a"], "holds bytes"),
    "texts with None": (["a", None], "1 values are missing (None or NaN), the first at index 1"),
    "texts with NaN": (["a", "b", float("nan")], "the first at index 2"),
    "texts and numbers": (["a", 3], "mixes int, str"),
    "half a surrogate pair": (["\ud800"], "not valid Unicode"),
    "a text of 9 MB": (["a" * (9 << 20)], "longer than 8 MB"),
    "rows that are tuples": ([("a film", "good")], "give dicts such as"),
    "rows of two kinds": ([GOOD[0], "b"], "item 1 is of type str"),
    "labels of two types": ([GOOD[0], {"text": "b", "label": 1}], "column 'label': mixes int, str"),
    "objects in cells": ([{"text": Strange()}], "holds Strange values"),
    "a row that is nested deep": ([{"text": nested(3000)}], "is nested more than 32 deep"),
    "a number of 80 bits": ([{"text": "a", "n": 2**80}], "needs more than 64 bits"),
    "columns of different lengths": ({"text": ["a"], "label": [1, 2]}, "has 2 values for 1 rows"),
    "a column that is a text": ({"text": "abc"}, "must be a list of values (given: str)"),
    "an array of three dimensions": (np.zeros((2, 2, 2)), "shape (2, 2, 2)"),
    "an array of numbers": (np.zeros(3), "holds double values"),
    "a single number in an array": (np.array(5), "shape ()"),
}
TEXTS = ["a warm film", "a dull plot"]
# texts and y that `to_table` and `Classifier.fit` are given
PAIRS: dict[str, tuple[object, object, str]] = {
    "more labels than texts": (TEXTS, [1, 2, 3], "y: has 3 values for 2 rows"),
    "a missing label": (TEXTS, [1, None], "y: 1 values are missing (None or NaN), the first at index 1"),
    "labels in a text": (TEXTS, "ab", "y: must be a list of one label for each text (given: str)"),
    "labels in a matrix": (
        TEXTS,
        np.eye(2),
        "y: must be a list of one label for each text (given: ndarray, shape (2, 2))",
    ),
    "labels in a generator": (TEXTS, (k for k in (0, 1)), "(given: generator)"),
    "labels of mixed types": (TEXTS, [1, "x"], "y: mixes int, str"),
    "labels in bytes": (TEXTS, [b"x", b"y"], "y: holds bytes"),
    "a pair among texts": ([("a", "b"), ("c",)], [0, 1], "item 1 is not a pair of texts"),
}
FITS: dict[str, tuple[object, object, str]] = {
    **PAIRS,
    "no labels": (TEXTS, None, "y: fit requires y to be passed"),
    "one class": (TEXTS, [1, 1], "y: has one class"),
    "several labels each": (TEXTS, [["a"], ["b"]], "y: has several labels for a text"),
    "numbers for texts": (np.zeros(2), [0, 1], "X: holds double values"),
    "a table of numbers": (np.zeros((2, 5)), [0, 1], "X: is an array of shape (2, 5)"),
    "a path": ("rows.csv", [0, 1], "X: must be a list of texts (given: str)"),
    "three columns": (pd.DataFrame({"a": TEXTS, "b": TEXTS, "c": TEXTS}), [0, 1], "X: has the columns a, b, c"),
    "a blank text": (["a", " "], [0, 1], "X: empty cells"),
}


@dataclass(frozen=True)
class Given:
    """A model folder and its predictor."""

    folder: Path
    predictor: Predictor


CALLS: dict[str, tuple[Callable[[Given], object], str]] = {
    "load a number": (lambda given: niwaki.load(3), "load: the path must be text or a Path (given: int)"),
    "load nothing there": (lambda given: niwaki.load("nowhere"), "nowhere"),
    "load a file": (lambda given: niwaki.load("empty.jsonl"), "empty.jsonl: is not a folder"),
    "load a folder of others": (lambda given: niwaki.load("folder"), "folder: is not a model"),
    "load a broken config": (lambda given: niwaki.load("broken"), "config.json"),
    "an unknown engine": (lambda given: niwaki.load(given.folder, "fast"), "fast"),
    "predict a number": (
        lambda given: given.predictor.predict(3),
        "predict: give a text or a list of them (given: int)",
    ),
    "predict a mapping": (lambda given: given.predictor.predict({"text": "a"}), "(given: dict)"),
    "predict a missing text": (lambda given: given.predictor.predict(["a", None]), "texts.1: must be"),
    "predict an empty text": (lambda given: given.predictor.predict(["a", ""]), "texts.1: is empty"),
    "predict numbers": (lambda given: given.predictor.predict(np.zeros(2)), "texts.0: must be"),
    "encode with a classifier": (lambda given: given.predictor.encode(["a"]), "gives no sentence embeddings"),
    "save to a number": (lambda given: given.predictor.save_pretrained(3), "save_pretrained: the folder must be"),
    "save over a file": (lambda given: given.predictor.save_pretrained("rows.docx"), "exists and is not a saved model"),
    "push without an owner": (lambda given: given.predictor.push_to_hub("model"), "write owner/name"),
    "estimator from a file": (lambda given: Classifier.from_pretrained("empty.jsonl"), "is not a folder"),
    "estimator from a number": (
        lambda given: Classifier.from_pretrained(4),
        "give a folder or a Hugging Face id (given: 4)",
    ),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory) -> Given:
    folder = tiny.deployed(tiny.model(layers=1), tmp_path_factory.mktemp("given") / "model")
    return Given(folder, niwaki.load(folder, "onnx"))


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A working folder with invalid files; nothing may appear in it, nor among temporary files."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.xlsx", "rows.docx"):
        Path(name).write_bytes(b"PK")
    Path("empty.jsonl").write_text("")
    Path("short.parquet").write_bytes(b"PAR1\x00\x00PAR1")
    Path("folder").mkdir()
    Path("broken").mkdir()
    for name, content in {"config.json": "[]", "tokenizer.json": "{}", "model.safetensors": ""}.items():
        (Path("broken") / name).write_text(content)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = sorted(tmp_path.rglob("*"))
    yield
    assert sorted(tmp_path.rglob("*")) == before


def rejected(call: Callable[[], object], words: str) -> None:
    with pytest.raises(NiwakiError) as caught:
        call()
    message = str(caught.value)
    assert words in message and "\n" not in message and len(message) <= MAX_CHARACTERS
    json.dumps(message).encode("utf-8")  # printable everywhere


@pytest.mark.parametrize(("data", "words"), TABLES.values(), ids=TABLES.keys())
def test_invalid_tables(data, words):
    rejected(lambda: to_table(data), words)


@pytest.mark.parametrize(("texts", "y", "words"), PAIRS.values(), ids=PAIRS.keys())
def test_invalid_texts_and_labels(texts, y, words):
    rejected(lambda: to_table(texts, y), words)


@pytest.mark.parametrize(("texts", "y", "words"), FITS.values(), ids=FITS.keys())
def test_invalid_fits(given, texts, y, words):
    estimator = Classifier(str(given.folder), "finetune")
    rejected(lambda: estimator.fit(texts, y), words)
    assert not hasattr(estimator, "model_")


@pytest.mark.parametrize(("call", "words"), CALLS.values(), ids=CALLS.keys())
def test_invalid_calls(given, call, words):
    rejected(lambda: call(given), words)


def test_there_are_at_least_forty_cases():
    assert len(TABLES) + len(PAIRS) + len(FITS) + len(CALLS) >= 40
