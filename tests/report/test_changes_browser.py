"""The page of a comparison in a real browser, at two widths and in both themes, and with the keyboard. Needs chromium.

The page's content is tested in test_changes_page.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from niwaki.report.changes_page import page

from .browser import Browser
from .comparisons_of_models import facts

pytestmark = pytest.mark.slow
MEASURE = (Path(__file__).parent / "measure.js").read_text()
SCREENS = {"laptop": (1280, 720), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "changes.html").write_text(page(facts()), encoding="utf-8")
    return tmp_path / "changes.html"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_page_on_screens(browser: Browser, path: Path, screen: str, theme: str) -> None:
    browser.show(*SCREENS[screen], theme)
    browser.open(path)
    found = browser.evaluate(MEASURE)
    assert found.pop("texts") > 100 and found.pop("parts") == 3, "title, lead and figures"
    assert found == {"fold": [], "small": [], "wide": [], "overlaps": [], "faint": []}


def test_details_open_by_keyboard_and_points_tell_their_figures(browser: Browser, path: Path) -> None:
    browser.show(*SCREENS["laptop"])
    browser.open(path)
    closed = "document.querySelector('details:not([open]) summary')"
    browser.evaluate(f"{closed}.focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r"
        )
    assert browser.evaluate("document.querySelectorAll('details[open]').length") == 2
    shown = browser.evaluate("document.querySelector('.point').focus(), document.getElementById('tip').textContent")
    assert shown.startswith("before the temperature\nconfidence 50.0 %")
    assert browser.evaluate("[...document.querySelectorAll('.point')].every(point => point.tabIndex === 0)")


def test_strangers_texts_run_nothing(browser: Browser, path: Path) -> None:
    browser.open(path)
    assert browser.evaluate("document.querySelectorAll('main img, main script').length") == 0
    assert "alert(1)" in browser.evaluate("document.querySelector('.quoted').textContent")
