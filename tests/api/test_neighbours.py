"""`api.nearest`: columns of tables, one query or several."""

import json

import pytest

import tiny
from niwaki import api

TEXTS = [text for text, _ in tiny.sentences(9, seed=4)]


def test_a_column_of_a_table_is_searched(encoder_folder, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"id": n, "body": text}) + "\n" for n, text in enumerate(TEXTS)))
    (found,) = api.nearest(encoder_folder, path, TEXTS[5], top=1, columns=["body"], engine="torch")
    assert found["query"] == TEXTS[5] and found["nearest"][0]["line"] == 6
    assert found["nearest"][0]["similarity"] == pytest.approx(1, abs=1e-5)
    both = api.nearest(encoder_folder, path, TEXTS[:2], top=2, columns=["body"], engine="torch")
    assert [len(one["nearest"]) for one in both] == [2, 2]
