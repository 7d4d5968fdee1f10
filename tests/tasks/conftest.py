"""Fixtures of the tests of tasks."""

import pytest

from niwaki.tasks.senses import Senses
from tasks.inventory import write_inventory
from tasks.rows import jsonl
from tasks.sense_rows import ROWS


@pytest.fixture
def sense_task(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    return Senses(path=jsonl(tmp_path / "rows.jsonl", ROWS), glosses="words", dimensions=3)
