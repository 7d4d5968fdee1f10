"""The playground: one document that needs nothing else. In a browser: tests/serve/test_playground_in_browser.py."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

pytest.importorskip("fastapi")


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
    assert paths == {"v1/models", "v1/predict"}
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
