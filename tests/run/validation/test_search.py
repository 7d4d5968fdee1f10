"""Values to search are checked like settings of the recipe."""

import pytest

from niwaki.core.errors import InputError
from niwaki.run.recipe import parse, read, to_toml
from niwaki.run.validation.search import search_problems
from search import spaces


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"engines": ["nativ"]}, "search.engines: 'nativ' is not an engine, did you mean 'native'?"),
        ({"space": {"layers": [1]}}, "must lead to a setting of a stage"),
        ({"space": {"stages.student.methods.ffn.keep": []}}, "has no values"),
        ({"space": {"stages.stdent.train.lr": [1e-4]}}, "there is no 'stdent', did you mean 'student'?"),
        ({"space": {"stages.student.methods.ffn.keep": [0.5]}}, "there is no 'ffn'"),
        ({"space": {"stages.pruned.methods.ffn.kep": [0.5]}}, "kep: unknown key, did you mean 'keep'?"),
        ({"space": {"stages.pruned.methods.ffn.keep": [0.5, 2.0]}}, "keep: input should be less than or equal to 1"),
        ({"space": {"stages.student.train.lr": [1e-4, -1.0]}}, "train.lr"),
        ({"space": {"stages.pruned.methods.heads": ["on", 3]}}, "must be 'on' or 'off' (given: '3')"),
        ({"space": {"stages.pruned.methods.haeds": ["on"]}}, "has no method 'haeds', did you mean 'heads'?"),
    ],
)
def test_values_that_do_not_fit_are_rejected_by_path(search, message):
    with pytest.raises(InputError) as rejected:
        spaces.recipe(**search)
    assert any(fault.startswith("search.") and message in fault for fault in rejected.value.faults)


def test_a_sound_table_is_read_back_as_it_was_written(tmp_path):
    recipe = spaces.recipe(max_mb=10, space={"stages.student.train.lr": [1e-4, "off"]})
    assert search_problems(recipe) == [] == search_problems(parse({"stages": [{"name": "a"}]}))
    (tmp_path / "recipe.toml").write_text(to_toml(recipe))
    assert read(tmp_path / "recipe.toml") == recipe
