"""The space comes from the methods' settings, the size of the start model, and the values that a recipe names."""

import pytest

from niwaki.core.settings import check, tuned
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.run.recipe import parse
from niwaki.search.space import ORDER, SHARES, Dimension, shares_of
from search import spaces


def values(space, path):
    return next(one.values for one in space.dimensions if one.path == path)


def test_values_come_from_the_methods_and_the_start_model():
    space = spaces.space()
    assert (space.source, space.later) == ("teacher", ("student", "pruned"))  # int8 only packs weights
    assert values(space, ORDER) == ("student", "pruned", "student > pruned", "pruned > student")
    assert values(space, "stages.student.methods.student.layers") == (1, 2, 3, 4, "off")
    assert values(space, "stages.student.methods.student.hidden") == (16, 32, "off")
    assert values(space, "stages.student.methods.vocabulary.min_count") == (1, 2, "off")
    assert values(space, "stages.pruned.methods.ffn.keep") == (0.25, 0.5, 0.75, "off")
    assert not any(".logits" in one.path for one in space.dimensions)  # it makes nothing smaller


def test_values_of_the_recipe_replace_and_add():
    path, rate = "stages.student.methods.student.layers", "stages.student.train.lr"
    space = spaces.space(space={path: [2, 5], rate: [1e-4, 2e-4]})
    assert values(space, path) == (2, 5) and values(space, rate) == (1e-4, 2e-4)
    assert next(one.stage for one in space.dimensions if one.path == rate) == "student"


def test_all_points_are_listed_once():
    space = spaces.space(
        space={one.path: list(one.values[:2]) for one in spaces.space().dimensions if one.path != ORDER}
    )
    found = [tuple(sorted(point.items())) for point in space.points()]
    # student: vocabulary and 4 sizes; pruned: heads and ffn; both orders of both
    assert len(found) == len(set(found)) == space.size() == 2**5 + 2**2 + 2 * 2**7


def test_dimensions_of_skipped_stages_do_not_matter():
    space = spaces.space()
    active = {one.path for one in space.active({ORDER: "pruned"})}
    assert active == {ORDER, "stages.pruned.methods.heads.keep", "stages.pruned.methods.ffn.keep"}


@pytest.mark.parametrize("change", [{"start": "teacher"}, {"model": "minilm"}])
def test_stages_that_name_their_start_stay_where_they_are(change):
    stages = [dict(stage) for stage in spaces.STAGES]
    stages[2] = {**stages[2], **change}
    recipe = parse({"model": "minilm", "task": "rotten_tomatoes", "stages": stages})
    space = spaces.make_space(recipe, spaces.tiny.model("bert", layers=6, width=48, heads=6, ffn=256))
    assert all(one.path != ORDER for one in space.dimensions)
    assert space.stages_of({}) == ("student", "pruned")


def test_numbers_are_ordered_and_choices_are_not():
    assert Dimension("a", (1, 2, 3, "off")).is_ordered and Dimension("a", (0.1, 0.2, 0.3)).is_ordered
    assert not Dimension("a", ("x", "y", "off")).is_ordered and not Dimension("a", (1, "off")).is_ordered
    assert not Dimension("a", (True, False, 3)).is_ordered


def test_shares_are_rounded_and_smaller_than_the_whole():
    assert shares_of("hidden", {"hidden": 384}) == (128, 192, 256)
    assert shares_of("ffn", {"ffn": 1536}) == (384, 768, 1152)
    assert shares_of("layers", {"layers": 12}) == (2, 4, 6, 8)
    assert shares_of("layers", {}) == ()  # a network without layers


@pytest.mark.parametrize("name", METHODS.names())
def test_values_that_a_method_declares_are_valid(name):
    kind = METHODS.load(name, Method)
    for setting, tune in tuned(kind).items():
        assert kind.requires.reduces, "only methods that make a model smaller are searched"
        if isinstance(tune, str):
            assert tune in SHARES
            continue
        for value in tune:
            assert getattr(check(kind, {setting: value}), setting) == value
