"""The page of a comparison: complete, without what strangers' texts would run, and with the parts that exist."""

import re

import pytest

from niwaki.report.changes_page import MOST_DEPTHS, cell, matrix, page, spaced

from .comparisons_of_models import POISON, facts


def test_texts_of_strangers_are_escaped():
    html = page(facts())
    assert "<script>alert" not in html and "<img" not in html and "&lt;script&gt;alert(1)" in html
    assert "\u202e" not in html and "\x00" not in html and "{{ 7 * 7 }}" in html
    assert (
        html.count("<script>") == html.count("<style>") == 1
        and " style=" not in html
        and "http" not in html.replace("http-equiv", "")
    )
    html.encode("utf-8")
    assert "&lt;b&gt;small&lt;/b&gt;" in html and POISON[1] in html


def test_policy_allows_this_style_and_script_only():
    import base64
    import hashlib

    html = page(facts())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    for name in ("script", "style"):
        content = html.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
        assert base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() in policy
    assert "default-src" in policy and "unsafe" not in policy


def test_every_part_has_its_section():
    html = page(facts())
    headings = re.findall(r'<h2 id="([a-z]+)"', html)
    assert headings == ["stages", "groups", "texts", "pie", "calibration", "edits", "layers", "cost", "missing"]
    assert "Limits exceeded" in html and "−6.0" in html and "4.2× faster" in html and "22.5× smaller" in html


@pytest.mark.parametrize("name", ["pie", "calibration", "robustness", "speed", "stages", "groups", "texts"])
def test_a_missing_part_leaves_no_trace(name):
    found = facts()
    empty = [] if isinstance(found[name], list) and name != "stages" else None
    html = page({**found, name: empty})
    assert len(html) < len(page(found)) and "None" not in html.replace('<p class="empty">None.', "")


def test_large_matrices_are_sampled():
    assert spaced(3) == [0, 1, 2] and len(spaced(25)) == MOST_DEPTHS and spaced(25)[-1] == 24
    found = matrix([[float(a == b) for b in range(25)] for a in range(13)])
    assert len(found["rows"]) == len(found["columns"]) == MOST_DEPTHS
    assert cell(0.234) == ("23", 2) and cell(None) == ("–", 0) and matrix(None) is None
