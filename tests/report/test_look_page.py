"""The page of `niwaki look`: escaped, offline, small, with all weights."""

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from niwaki.report.look_page import attributions, data_block, page, shades

MOST_BYTES = 2_000_000
HOSTILE = '<b>a</b> </script><script>alert(1)</script> & "q" \' {{ 7 * 7 }}'


def facts(tokens: int = 5, layers: int = 3, heads: int = 4) -> dict:
    words = [*HOSTILE.split(), "film"]
    row = [round(1 / tokens, 4)] * tokens
    return {
        "model": "runs/<x>",
        "engine": "torch",
        "kind": "label",
        "input": HOSTILE,
        "answer": f"{HOSTILE} (63.3%)",
        "tokens": (words * tokens)[:tokens],
        "words": words,
        "target": {"what": "logit of '<i>good'", "value": 0.5},
        "integrated_gradients": {
            "words": [0.5, -0.25, *[0.0] * (len(words) - 2)],
            "tokens": [],
            "total": 0.25,
            "difference": 0.2501,
            "error": -0.0001,
            "steps": 16,
            "baseline": "[MASK]",
        },
        "occlusion": {"words": [0.1, None, *[0.2] * (len(words) - 2)]},
        "rank_correlation": 0.75,
        "layers": [{"layer": n, "answer": HOSTILE, "confidence": 0.5, "target": -0.5} for n in range(layers + 1)],
        "attention": {
            "heads": [heads] * layers,
            "mean_over_heads": False,
            "tokens": tokens,
            "weights": [[[row] * tokens] * heads] * layers,
        },
        "neighbours": [{"line": 3, "similarity": 0.9, "text": HOSTILE, "label": "", "answer": "<u>x"}],
        "masks": [[{"token": HOSTILE, "probability": 0.5}]],
        "not_shown": {"neighbours": f"because {HOSTILE}"},
    }


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs


def test_texts_are_escaped_everywhere():
    found = Elements(page(facts()))
    assert found.tags.count("script") == 2 and not {"b", "i", "u"} & (set(found.tags) - {"b"})
    assert found.tags.count("b") == 1  # the model's name in the header
    assert not any(name.startswith("on") or name in ("src", "style") for name, _ in found.attributes)
    assert "{{ 7 * 7 }}" in page(facts()) and "://" not in page(facts())


def test_the_policy_names_this_style_and_script():
    text = page(facts())
    assert "default-src &#39;none&#39;" in text and text.count("sha256-") == 2 and "unsafe" not in text


def test_a_page_with_all_weights_is_below_two_megabytes():
    """The most weights that `Look.to_json` passes on."""
    found = facts(tokens=74, layers=12, heads=12)
    text = page(found)
    assert sum(found["attention"]["heads"]) * 74**2 > 780_000 and len(text.encode()) < MOST_BYTES


def test_weights_are_stored_as_bytes_in_their_order():
    block = json.loads(
        data_block(
            {"heads": [2], "mean_over_heads": False, "tokens": 1, "weights": [[[[1.0]], [[0.2]]]]}, ["</script>", "b"]
        )
    )
    assert block["tokens"] == ["</script>"] and base64.b64decode(block["weights"]) == bytes([255, 51])
    assert data_block(None, []) is None
    assert "<" not in data_block(
        {"heads": [1], "mean_over_heads": False, "tokens": 1, "weights": [[[[1.0]]]]}, ["</script>"]
    )


def test_shades_follow_the_share_of_the_largest_value():
    assert shades([1.0, -0.5, None, 0.05, 0.0, -1.0]) == ["for5", "against2", "", "", "", "against5"]
    assert shades([0.0, None]) == ["", ""] and shades([]) == []


@pytest.mark.parametrize(
    "missing", ["attention", "integrated_gradients", "occlusion", "target", "layers", "neighbours", "masks"]
)
def test_any_part_may_be_missing(missing):
    found = facts()
    found[missing] = [] if isinstance(found[missing], list) else None
    if missing == "target":
        found |= {"integrated_gradients": None, "occlusion": None}
    assert "</html>" in page(found)
    assert [one["key"] for one in attributions({**facts(), "occlusion": None})] == ["integrated_gradients"]


def test_inputs_of_several_texts_stand_below_each_other():
    assert page({**facts(), "input": ["a film", ["good", "bad"]]}).count('class="lead"') == 2
    assert re.search(r'class="lead">a film</p>', page({**facts(), "kind": "tags", "input": ["a", "film"]}))
