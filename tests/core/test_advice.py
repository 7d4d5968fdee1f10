"""Suggested settings come through a shell and through `--set` as they were meant."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.advice import data_option, set_option
from niwaki.run.overrides import apply_override


@pytest.mark.parametrize(
    ("column", "option"),
    [
        ("first", "--set data.text=first"),
        ("First text", "--set 'data.text=First text'"),
        ("2020", "--set 'data.text=\"2020\"'"),
        ("true", "--set 'data.text=\"true\"'"),
        ("a'b", """--set 'data.text=a'"'"'b'"""),
    ],
)
def test_a_setting_is_one_shell_word(column, option):
    assert set_option("data.text", column) == option


@given(some.text(some.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_column_name_survives_shell_and_toml(column):
    flag, override = shlex.split(set_option("data.text", column))
    values: dict = {}
    apply_override(values, override)
    assert flag == "--set" and values == {"data": {"text": column}}


def test_a_path_with_spaces_is_quoted():
    assert shlex.split(data_option("my rows.csv")) == ["--data", "my rows.csv"]
