"""How stages are connected."""

from pathlib import Path

from niwaki.run.recipe import parse
from niwaki.run.validation.draft import Draft, lineage, resolve_stages


def resolved():
    stages = [
        {"name": "a"},
        {"name": "b"},
        {"name": "c", "start": "a"},
        {"name": "d", "model": "other"},
        {"name": "e", "methods": [{"use": "int8"}]},
    ]
    recipe = parse({"model": "minilm", "stages": stages})
    return resolve_stages(recipe, {"minilm": Path("minilm"), "other": Path("other")})


def test_a_stage_starts_from_the_one_before_unless_it_says_otherwise():
    found = [(stage.name, stage.parent, stage.source.name) for stage in resolved()]
    assert found == [
        ("a", None, "minilm"),
        ("b", "a", "minilm"),
        ("c", "a", "minilm"),
        ("d", None, "other"),
        ("e", "d", "minilm"),
    ]


def test_a_lineage_begins_with_the_stage_of_a_pretrained_model():
    assert [stage.name for stage in lineage(resolved(), "c")] == ["a", "c"]
    assert [stage.name for stage in lineage(resolved(), "e")] == ["d", "e"]


def test_faulty_keys_are_not_sound():
    draft = Draft(parse({"stages": [{"name": "a"}]}), frozenset({"data"}))
    assert draft.is_sound("model") and not draft.is_sound("task", "data")
