"""Networks for single texts are rejected for tasks on pairs."""

import json

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from run.teaching import TRAIN, guest


def test_network_for_single_texts_is_rejected_for_pairs(tmp_path):
    rows = tmp_path / "pairs.csv"
    rows.write_text(
        "premise,hypothesis,label\n" + "".join(f"{text},{text},{label}\n" for text, label in tiny.sentences(80))
    )
    single, pairs = (
        guest(tmp_path / name, family="averaging", niwaki_texts=count) for name, count in (("single", 1), ("pairs", 2))
    )
    values = {
        "task": "classification",
        "data": {"path": str(rows)},
        "quantize": [],
        "stages": [{"name": "one", "train": TRAIN}],
    }
    make_plan(parse({"model": pairs, **values}), "x")
    with pytest.raises(InputError, match="single: was made for single texts, and task 'classification' is on several"):
        make_plan(parse({"model": single, **values}), "x")


def test_network_for_single_texts_reads_sentences_in_words(tmp_path):
    rows = tmp_path / "tags.jsonl"
    found = ({"tokens": [text.split()[0], "film"], "ner_tags": ["B-X", "O"]} for text, _ in tiny.sentences(80))
    rows.write_text("\n".join(map(json.dumps, found)))
    labels = {"head": "TokenClassification", "labels": ["B-X", "O"], "niwaki_texts": 1}
    single = guest(tmp_path / "single", family="bilstm", **labels)
    values = {
        "task": "tagging",
        "data": {"path": str(rows)},
        "quantize": [],
        "stages": [{"name": "one", "train": TRAIN}],
    }
    make_plan(parse({"model": single, **values}), "x")
