"""The documentation site builds without warnings and without a network."""

import re
from pathlib import Path

import pytest

mkdocs_build = pytest.importorskip("mkdocs.commands.build")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("NO_MKDOCS_2_WARNING", "1")
        config = load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(folder))
        config.plugins.on_startup(command="build", dirty=False)
        mkdocs_build.build(config)  # a warning, such as a broken link, raises Abort
    return folder


def read(site, page):
    return (site / page).read_text(encoding="utf-8")


def test_the_reference_contains_every_method_and_verb(site):
    from niwaki.cli._app import VERBS
    from niwaki.methods import METHODS

    methods, commands = read(site, "reference/methods.html"), read(site, "reference/cli.html")
    assert [name for name in METHODS.names() if f'id="{name}"' not in methods] == []
    assert [verb for verb in VERBS.names() if f'id="niwaki-{verb}"' not in commands] == []


def test_the_reference_contains_the_python_api(site):
    import niwaki

    page = read(site, "reference/python.html")
    names = [name for name in niwaki.__all__ if not name.startswith("_")]
    assert [name for name in names if not re.search(rf'id="niwaki\.[\w.]*{name}"', page)] == []


def test_pages_load_nothing_from_the_network(site):
    loaded = re.compile(r'(?:src="|rel="stylesheet" href="|url\()https?://')
    assert [page.name for page in site.rglob("*.html") if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_every_page_is_in_the_navigation(site):
    """Apart from pages that the site generates, every Markdown file in docs/ must be reachable."""
    home = read(site, "index.html")
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert sorted(page for page in pages if f'href="{page}"' not in home) == []
