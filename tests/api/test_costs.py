"""The cost of a saved model, from Python and from the command line."""

import json

import pytest

import tiny
from niwaki import api
from niwaki.cli._app import run
from niwaki.core.errors import UsageError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("cost")
    tiny.model("bert").save(home)
    return home


def test_a_saved_model_is_measured_at_the_given_lengths(folder):
    found = api.cost(folder, lengths=[40, 8], compare=False)
    assert [one["tokens"] for one in found["lengths"]] == [8, 40] and "conversions" not in found
    assert found["mixers"] == ["attention"] * 3 and found["bytes"]["mixer"] > 0


@pytest.mark.parametrize("lengths", [[], [1, 8], [8, 8]])
def test_lengths_without_meaning_are_rejected(folder, lengths):
    with pytest.raises(UsageError, match="different whole numbers from 2 on"):
        api.cost(folder, lengths=lengths)


def test_the_command_prints_a_table_or_data(folder, capsys):
    words = ["show", "cost", str(folder), "--lengths", "8", "--no-compare"]
    assert run(words) == 0
    text = capsys.readouterr().out
    assert "feed_forward" in text and "operations" in text
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lengths"][0]["tokens"] == 8
    assert run(["show", "cost"]) == 2
