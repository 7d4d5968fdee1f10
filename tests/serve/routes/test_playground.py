"""The playground: one document that needs nothing else; slow tests use it in headless Chromium on a real server."""

import base64
import hashlib
import re
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from engines.cascades import saved_cascade
from engines.trunks import folder_with_heads
from report.browser import Browser
from serve.live import LiveServer


@pytest.fixture
def page(served):
    return served().request("GET", "/")


class Elements(HTMLParser):
    """All start tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.content: dict[str, str] = {}
        self.open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.open = tag

    def handle_data(self, data):
        if self.open in ("script", "style"):
            self.content[self.open] = self.content.get(self.open, "") + data

    def handle_endtag(self, tag):
        self.open = ""


def test_the_page_allows_its_own_script_and_style_and_nothing_else(page):
    assert page.status == 200 and page.headers["content-type"].startswith("text/html")
    policy = page.headers["content-security-policy"]
    elements = Elements(page.body.decode())
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(elements.content[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_the_page_loads_nothing_from_elsewhere(page):
    text = page.body.decode()
    assert "://" not in text
    for tag, attributes in Elements(text).found:
        assert "src" not in attributes and not any(name.startswith("on") for name in attributes)
        assert tag != "link" or attributes["href"] == "data:,"


def test_the_page_calls_routes_that_exist(served):
    one = served()
    text = one.request("GET", "/").body.decode()
    paths = set(re.findall(r'request\("(v1/\w+)"', text))
    assert paths == {"v1/models", "v1/predict", "v1/words"}
    assert paths <= {path.lstrip("/") for path in one.request("GET", "/openapi.json").json["paths"]}


def test_texts_never_become_html(page):
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", page.body.decode())


def test_every_field_has_a_label_and_results_are_announced(page):
    elements = Elements(page.body.decode()).found
    labels = {attributes.get("for") for tag, attributes in elements if tag == "label"}
    assert {attributes["id"] for tag, attributes in elements if tag in ("input", "textarea")} <= labels
    assert ("html", {"lang": "en"}) in elements
    assert any(attributes.get("aria-live") == "polite" for _, attributes in elements)


def test_the_page_needs_no_key_and_its_data_do(served):
    one = served(api_keys=["secret"])
    assert one.request("GET", "/").status == 200
    assert one.request("GET", "/v1/models").status == 401


# ── in a browser ────────────────────────────────────────────────────────────────────────────────────────────────────

KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def server(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    home = tmp_path_factory.mktemp("served")
    trunk = folder_with_heads(home, plain={"labels": "topics", "number": "score"})
    cascade = saved_cascade(home / "cascade")
    words = f"reviews={tiny_folder}", f"mail={trunk}", f"steps={cascade}"
    live = LiveServer(*words, NIWAKI_API_KEYS=KEY)
    yield live
    live.stop()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def opened(browser: Browser, server: LiveServer) -> Browser:
    """The page after its key was given."""
    browser.show(1280, 900)
    browser.call("Page.navigate", url=f"http://127.0.0.1:{server.port}/")
    until(browser, "document.getElementById('key-field') && !document.getElementById('key-field').hidden")
    browser.evaluate(
        f"key = document.getElementById('key'), key.value = '{KEY}', key.dispatchEvent(new Event('change'))"
    )
    until(browser, "document.querySelectorAll('#models input').length > 4")
    return browser


def until(browser: Browser, condition: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not browser.evaluate(f"Boolean({condition})"):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def compare(page: Browser, texts: str) -> None:
    page.evaluate(f"document.getElementById('texts').value = {texts!r}")
    page.evaluate("document.querySelectorAll('#models input').forEach((one) => { one.checked = true; })")
    page.evaluate("document.getElementById('compare').click()")
    until(page, "!document.getElementById('answers').hidden && !document.getElementById('compare').disabled")


@pytest.mark.slow
def test_models_are_compared_side_by_side(opened):
    compare(opened, "a lovely film\nthe <b>bad</b> end")
    found = opened.evaluate(
        "[...document.querySelectorAll('#tables tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
    )
    names = ["reviews", "mail", "mail/score", "mail/topics", "mail/all", "steps"]
    assert [row[0] for row in found] == names * 2
    assert all(len(row) == 7 for row in found), found
    assert "%" in found[0][2] and float(found[0][3]) > 0 and float(found[0][5]) > 0
    assert "answered" in found[5][6]
    assert (
        opened.evaluate("[...document.querySelectorAll('#tables h3')].map((one) => one.textContent)")[1]
        == "the <b>bad</b> end"
    )
    assert opened.evaluate("document.getElementById('status').textContent") == "2 texts, 6 models."


@pytest.mark.slow
def test_words_that_mattered_are_marked(opened):
    opened.evaluate("document.getElementById('texts').value = 'a lovely film'")
    opened.evaluate("document.getElementById('explain').click()")
    until(opened, "!document.getElementById('words').hidden && !document.getElementById('explain').disabled")
    words = opened.evaluate(
        "[...document.querySelectorAll('#explained p')].map((one) => [...one.querySelectorAll('.word')].map((word) => word.firstChild.data))"
    )
    assert words[0] == ["a", "lovely", "film"]
    colors = opened.evaluate(
        "[...document.querySelectorAll('#explained .word')].map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colors)) > 1


@pytest.mark.slow
def test_nothing_comes_from_elsewhere_and_the_policy_blocks_nothing(opened, server):
    compare(opened, "a lovely film")
    loaded = opened.evaluate("performance.getEntriesByType('resource').map((one) => one.name)")
    assert loaded and all(name.startswith(f"http://127.0.0.1:{server.port}/v1/") for name in loaded)


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 900), (390, 844)])
def test_it_can_be_read_in_both_themes_and_on_a_phone(opened, theme, size):
    compare(opened, "a lovely film\n" + "a very long text " * 30)
    opened.show(*size, theme)
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (theme == "light")
    assert opened.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    narrow = "[...document.querySelectorAll('#tables th, #tables td')].filter((one) => one.getBoundingClientRect().width < 40).length"
    assert opened.evaluate(narrow) == 0, "a column is too narrow to be read"
    contrasts = opened.evaluate(CONTRASTS)
    assert contrasts and min(contrasts) >= 4.5, sorted(contrasts)[:5]


CONTRASTS = """(() => {
  const parse = (color) => color.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
    .reduce((sum, x, at) => sum + x * [0.2126, 0.7152, 0.0722][at], 0);
  function behind(element) {
    for (let one = element; one; one = one.parentElement) {
      const color = parse(getComputedStyle(one).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
  }
  return [...document.querySelectorAll("h1, h2, h3, p, label, legend, th, td, button, a")].filter((one) => one.checkVisibility() && one.textContent.trim())
    .map((one) => [light(parse(getComputedStyle(one).color)), light(behind(one))]).map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
})()"""
