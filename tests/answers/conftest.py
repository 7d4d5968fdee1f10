"""Fixtures of the tests of answer types."""

import numpy as np
import pyarrow as pa
import pytest

from answers.senses import INVENTORY, key
from niwaki.answers._sense_inventory import SenseInventory, Vectors
from niwaki.data.wordnet import SENSES


@pytest.fixture
def sense_inventory():
    rows = [
        {
            "sense_key": key(lemma, pos, n),
            "lemma": lemma,
            "pos": pos,
            "synset": f"{lemma}-{pos}-{n}",
            "sense_number": n,
            "tag_count": seen,
        }
        for lemma, pos, n, seen, _ in INVENTORY
    ]
    synsets = [
        {"synset": row["synset"], "lexfile": file, "gloss": f'the {row["lemma"]}; "a {row["lemma"]}"'}
        for row, (*_, file) in zip(rows, INVENTORY, strict=True)
    ]
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)  # of the three senses of bank
    packed = Vectors.packed(vectors, np.array([0, 1, 2]), len(rows))
    forms = {("sat", "verb"): "sit", ("leaves", "noun"): "leaf"}
    return SenseInventory(pa.Table.from_pylist(rows, SENSES), pa.Table.from_pylist(synsets), forms, packed)
