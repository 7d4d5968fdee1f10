"""Kinds are derived from the catalogues; names are checked."""

import pytest

from niwaki.core.errors import InputError, UsageError
from niwaki.listing import catalogs
from niwaki.scaffold.kinds import TEMPLATES, check_family, check_name, find_kind, kinds, singular


def test_every_kind_has_a_catalogue_and_both_templates():
    assert {"method", "task", "family", "engine", "edit", "recipe"} <= set(kinds())
    for name, kind in kinds().items():
        assert (TEMPLATES / f"{name}.j2").is_file() and (TEMPLATES / f"test_{name}.j2").is_file()
        assert kind.catalog is None or catalogs()[kind.plural].folder == kind.catalog.folder


def test_every_template_belongs_to_a_kind():
    names = {path.stem.removeprefix("test_") for path in TEMPLATES.glob("*.j2")} - {"pyproject", "readme"}
    assert names == set(kinds())


def test_plurals_become_singular():
    assert [singular(word) for word in ("methods", "families", "feed_forwards")] == ["method", "family", "feed_forward"]


def test_an_unknown_kind_is_rejected_with_the_nearest_name():
    with pytest.raises(UsageError, match="did you mean 'method'"):
        find_kind("methd")


def test_a_method_needs_a_family_that_exists():
    assert check_family(find_kind("method"), "prune") == "prune"
    assert check_family(find_kind("task"), "") == ""
    with pytest.raises(UsageError, match="an engine has no --family"):
        check_family(find_kind("engine"), "prune")
    with pytest.raises(UsageError, match="give --family"):
        check_family(find_kind("method"), "")
    with pytest.raises(InputError, match="did you mean 'prune'"):
        check_family(find_kind("method"), "prun")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("method", "int8", "exists already"),
        ("method", "Name", "lower-case letters"),
        ("method", "a-b", "lower-case letters"),
        ("method", "_hidden", "lower-case letters"),
        ("method", "../x", "lower-case letters"),
        ("method", "naïve", "lower-case letters"),
        ("task", "class", "a keyword of Python"),
        ("task", "x" * 41, "at most 40"),
        ("task", "", "lower-case letters"),
        ("engine", "onnx", "exists already"),
        ("recipe", "rotten_tomatoes", "exists already"),
        ("recipe", "../x", "lower-case letters"),
    ],
)
def test_an_invalid_name_is_rejected(kind, name, message):
    with pytest.raises(InputError, match=message):
        check_name(find_kind(kind), name)
