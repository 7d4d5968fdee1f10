"""Fixtures of the tests of training."""

import pytest

import tiny
from niwaki.tasks.classification import Classification


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tiny.write_csv(tmp_path_factory.mktemp("loop") / "rows.csv", count=60)
    return Classification(path=str(path), validation=0.2, test=0.2)
