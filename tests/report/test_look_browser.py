"""The page of `niwaki look` in a real browser: two widths, both themes, keyboard. Needs chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from niwaki.report.look_page import page as look_page

from .browser import Browser
from .test_look_page import facts

pytestmark = pytest.mark.slow
MEASURE = (Path(__file__).parent / "measure.js").read_text()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "look.html"
    path.write_text(look_page(facts(tokens=40, layers=6, heads=12)), encoding="utf-8")
    return path


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [(1280, 720), (390, 844)])
def test_page_on_screens(browser: Browser, page: Path, screen: tuple[int, int], theme: str) -> None:
    browser.show(*screen, theme)
    browser.open(page)
    found = browser.evaluate(MEASURE)
    assert found["texts"] > 60, "nothing was measured"
    assert found["small"] == found["wide"] == found["faint"] == []
    assert (browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)") == (
        theme == "light"
    )
    pictures = "new Set([...document.querySelectorAll('#heads canvas')].map((one) => one.toDataURL())).size"
    assert (
        browser.evaluate("document.querySelectorAll('#heads canvas').length") == 72 and browser.evaluate(pictures) >= 1
    )


def press(browser: Browser, key: str) -> None:
    browser.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key)
    browser.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)


def test_heads_and_tokens_are_chosen_with_the_keyboard(browser: Browser, page: Path) -> None:
    browser.show(1280, 720)
    browser.open(page)
    chosen = "document.getElementById('chosen').textContent"
    assert browser.evaluate(chosen) == "layer 1, head 1"
    browser.evaluate("document.querySelector('#heads [tabindex=\"0\"]').focus()")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown"):
        press(browser, key)
    assert browser.evaluate(chosen) == "layer 2, head 3"
    assert browser.evaluate("document.activeElement.ariaLabel") == "layer 2, head 3"
    browser.evaluate("document.querySelector('#tokens [tabindex=\"0\"]').focus()")
    press(browser, "ArrowRight")
    assert browser.evaluate("[...document.querySelector('#tokens').children].indexOf(document.activeElement)") == 1
    assert "attends to" in browser.evaluate("document.getElementById('reads').textContent")
    assert browser.evaluate('document.querySelectorAll(\'#heads [tabindex="0"], #tokens [tabindex="0"]\').length') == 2


def test_texts_stay_texts_and_nothing_is_loaded(browser: Browser, page: Path) -> None:
    browser.show(1280, 720)
    browser.open(page)
    assert browser.evaluate("document.querySelectorAll('script').length") == 2
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0
    assert "<script>alert(1)</script>" in browser.evaluate("document.querySelector('.lead').textContent")
