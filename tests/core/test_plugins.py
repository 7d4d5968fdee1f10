"""Entry points of installed packages: found without importing them, and never in the place of niwaki's own."""

import sys
from pathlib import Path

import pytest

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError
from niwaki.core.plugins import find_module, installed_plugins
from niwaki.core.recipes import recipe_files

METHODS = Catalog("niwaki.methods", "method")
RAISES = '"""Shuffles nothing.\n\nMore text.\n"""\nraise RuntimeError("imported")\n'


def install(site: Path, package: str, points: str, files: dict[str, str]) -> None:
    """Lays out a wheel as pip would: modules next to a dist-info folder."""
    for name, text in files.items():
        path = site / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = site / f"{package}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    installed_plugins.cache_clear()
    yield tmp_path
    installed_plugins.cache_clear()


def test_a_plugin_is_listed_with_its_description_without_being_imported(site):
    install(
        site, "outside", "[niwaki.methods]\nshuffle = outside.shuffle\n", {"__init__.py": RAISES, "shuffle.py": RAISES}
    )
    entry = METHODS.entry("shuffle")
    assert (entry.description, entry.family, entry.origin) == ("Shuffles nothing", "outside", "outside 1.5")
    assert METHODS.names()[-1] == "shuffle" and METHODS.entries()[-1] == entry
    assert "outside" not in sys.modules
    assert Catalog("niwaki.methods", "method", plugins=False).names() == METHODS.names()[:-1]
    with pytest.raises(RuntimeError, match="imported"):
        METHODS.module("shuffle")


def test_a_plugin_cannot_replace_an_entry_of_niwaki(site):
    install(site, "outside", "[niwaki.methods]\nheads = outside.heads\n", {"__init__.py": "", "heads.py": RAISES})
    assert METHODS.entry("heads").module == "niwaki.methods.prune.heads"
    assert METHODS.names().count("heads") == 1


def test_a_name_in_two_packages_is_rejected_with_both(site):
    for package in ("first", "second"):
        install(site, package, f"[niwaki.methods]\nsame = {package}.same\n", {"__init__.py": "", "same.py": RAISES})
    with pytest.raises(InputError, match=r"method 'same' is provided by several packages \(first 1.5, second 1.5\)"):
        METHODS.entry("same")


def test_an_entry_point_must_have_the_name_of_its_module(site):
    install(site, "outside", "[niwaki.methods]\nother = outside.shuffle\n", {"__init__.py": "", "shuffle.py": RAISES})
    with pytest.raises(InputError, match=r"method 'other' of outside 1.5: .* must have the same name; rename one"):
        METHODS.entry("other")


def test_a_missing_module_is_described_as_missing(site):
    install(site, "outside", "[niwaki.methods]\ngone = outside.gone\n", {"__init__.py": ""})
    assert METHODS.entry("gone").description == "module outside.gone is missing; reinstall outside"


def test_only_installed_names_can_be_loaded(site):
    install(site, "outside", "[niwaki.tasks]\nquiz = outside.quiz\n", {"__init__.py": "", "quiz.py": RAISES})
    for name in ("outside.quiz", "outside", "quiz", "os"):
        with pytest.raises(InputError, match="is not known"):
            METHODS.module(name)


def test_recipes_of_a_plugin_are_listed_after_the_shipped_ones(site):
    own = recipe_files()
    texts = {"__init__.py": RAISES, "tiny.toml": "# Tiny", "finetune.toml": "# not ours"}
    install(site, "outside", "[niwaki.recipes]\nall = outside\n", texts)
    installed_plugins.cache_clear()
    assert recipe_files() == {**own, "tiny": site / "outside" / "tiny.toml"}


def test_modules_are_found_where_they_are(site):
    assert find_module("niwaki.core.plugins") == Path(sys.modules["niwaki.core.plugins"].__file__)
    assert find_module("no_such_package.at_all") is None
