"""The page is safe to open whatever a run folder contains, and complete without a network."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core import files
from niwaki.core.documents import digest_of
from niwaki.core.run_folder import open_run
from niwaki.report import run_files
from niwaki.report.page import with_copies
from report.runs import METHODS, change, make_full, make_run, reseal

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    "</title></style></script><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% include 'x' %}",
    "javascript:alert(1)",
    "https://example.invalid/x.js",
    "\u202egnp.elif\u0000\ud800",
    "a|b\n# c\n```\n<b>",
]
ALLOWED = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "p",
        "b",
        "h1",
        "h2",
        "h3",
        "ul",
        "li",
        "code",
    ),
    *(
        "section",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "small",
        "span",
        "div",
        "figure",
        "figcaption",
    ),
    *(
        "svg",
        "desc",
        "g",
        "rect",
        "polygon",
        "line",
        "text",
        "path",
        "circle",
        "pre",
        "dl",
        "dt",
        "dd",
        "footer",
        "script",
    ),
}


class Page(HTMLParser):
    """Tags, attributes and the text of style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem in ("style", "script"):
            self.raw[self.cdata_elem] = self.raw.get(self.cdata_elem, "") + data
        self.words.append(data)


@pytest.fixture
def html(tmp_path: Path) -> str:
    run = make_run(tmp_path / "demo")
    report.write(run)
    return (run / "report.html").read_text()


def spoil(run: Path, words: str) -> None:
    """Puts `words` wherever a run folder can carry text."""
    plan = files.read_json(run / "plan.json")
    names = {stage["name"]: f"{stage['name']} {words}" for stage in plan["stages"]}
    first = [stage["folder"] for stage in plan["stages"]]
    for stage in plan["stages"]:
        stage.update(name=names[stage["name"]], key=words, methods=[{"use": words, words: words}])
    task = {**plan["task"], "name": words, "metric": words, "labels": [words], "rows": {words: words}}
    task.update(answer=words, caveat=words, description=words)
    for stage in [stage for repeat in plan.get("repeats", []) for stage in repeat["stages"]]:
        stage.update(name=names[stage["name"]])
    loose = {"name": words, "model": words, "seed": words, "created": words, "niwaki": words}
    plan.update(loose, task=task, versions={words: words}, hardware={words: words})
    (run / "recipe.toml").write_text(words, errors="replace")
    _dump(run / "plan.json", plan)
    for path in run.glob("stages/*/result.json"):
        result = files.read_json(path)
        result["key"] = words if f"stages/{path.parent.name}" in first else result["key"]
        score = {**result["score"], "metric": words, "all": {words: {"value": words}}}
        result.update(engine=words, score=score, parts={words: score})
        _dump(path, result)
    race = files.read_json(run / "speed.json")
    race["contenders"] = {names.get(name, name): value for name, value in race["contenders"].items()}
    race.update(texts=words, rounds=words, batch=words)
    _dump(run / "speed.json", race)
    spoil_baseline(run, words, names)
    line = {"stage": words, "what": words, "status": words, "reading": {"tier": words, "joules": 3, "source": words}}
    with (run / "ledger.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def test_no_secret_of_a_recipe_is_published(tmp_path):
    run = make_full(tmp_path / "run")
    (run / "recipe.toml").write_text('data = { path = "https://me:s3cr3t-word@host/rows" }\n')
    change(run / "plan.json")
    assert run_files.read_run(open_run(run)).recipe == 'data = { path = "https://***@host/rows" }\n'


def spoil_baseline(run: Path, words: str, names: dict[str, str]) -> None:
    """The baselines and their comparisons, renamed consistently, so that they are shown."""
    baseline = files.read_json(run / "baseline.json")
    baselines = [{**entry, "name": words, "kind": words, "note": words} for entry in baseline.get("baselines", [])]
    _dump(run / "baseline.json", {**baseline, "name": words, "baselines": baselines})
    if (run / "comparisons.json").is_file():
        content = files.read_json(run / "comparisons.json")
        pairs = [{**pair, **{end: names.get(pair[end], words) for end in "ab"}} for pair in content["pairs"]]
        _dump(run / "comparisons.json", {**content, "metric": words, "pairs": pairs})


def _dump(path: Path, value: dict[str, Any]) -> None:
    """As niwaki writes it; in ASCII, because JSON can only contain a lone surrogate that way."""
    content = {key: item for key, item in value.items() if key != "digest"}
    if path.name == "plan.json":
        content["files"] = {"recipe.toml": files.sha256(path.with_name("recipe.toml"))}
    path.write_text(json.dumps({**content, "digest": digest_of(content)}))
    if path.name == "result.json":
        reseal(path.parent)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_text_stays_text(tmp_path: Path, words: str) -> None:
    run = make_full(tmp_path / "demo")
    spoil(run, words)
    report.write(run)
    page = Page((run / "report.html").read_text())
    assert {tag for tag, _ in page.tags} - {"title"} <= ALLOWED
    assert [tag for tag, _ in page.tags].count("script") == 1
    handlers = [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name == "style"]
    assert not handlers
    assert not any("49" in word and "7 * 7" not in word for word in page.words if "include" in word)
    check_no_remote(page)


def check_no_remote(page: Page) -> None:
    for _, attributes in page.tags:
        for name in ("src", "href", "srcset", "action", "data", "xlink:href", "poster"):
            assert name not in attributes
    assert "url(" not in page.raw["style"] and "@import" not in page.raw["style"]


def test_page_loads_no_remote_assets(html: str) -> None:
    check_no_remote(Page(html))
    bare = html.replace('xmlns="http://www.w3.org/2000/svg"', "")  # a name, not an address that is fetched
    assert "http://" not in bare and "https://" not in bare
    assert len(html) < 200_000


def test_the_policy_allows_this_style_and_script_only(html: str) -> None:
    page = Page(html)
    policy = next(
        a["content"] for t, a in page.tags if t == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None and policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    tags = [tag for tag, _ in page.tags]
    assert tags.index("meta") < tags.index("style"), "the policy comes before what it governs"


def test_the_order_of_the_page(html: str) -> None:
    ids = re.findall(r'<h2 id="(\w+)"', html)
    assert ids == ["why", "need", "stages", "tradeoff", "smaller", "training", "spent", "reproduce"]
    assert re.findall(r"<h1[^>]*>(.*?)</h1>", html) == ["Deploy int8"]
    first = html[html.index("<main>") : html.index("<h2")]
    assert "niwaki.load" in first and first.count("<li><b>") == 4, "figures and code come with the recommendation"


def test_quantized_copies_follow_their_stage() -> None:
    rows = [{"name": name, "copy_of": source} for name, source in (("a", None), ("b", ""), ("a-int8", "a"), ("x", "y"))]
    assert [row["name"] for row in with_copies(rows)] == ["a", "a-int8", "b", "x"]


def test_tables_have_headers_and_plots_have_names(html: str) -> None:
    page = Page(html)
    assert all(attributes.get("scope") in ("col", "row") for tag, attributes in page.tags if tag == "th")
    plots = [attributes for tag, attributes in page.tags if tag == "svg"]
    plots = [attributes for attributes in plots if attributes.get("class") == "plot"]
    assert len(plots) == 3 + 2 * 2 and all(attributes["aria-label"] for attributes in plots)
    points = [attributes for tag, attributes in page.tags if tag == "g"]
    assert all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in points)


def test_figures_are_written_with_units_and_tiers(html: str) -> None:
    text = " ".join(Page(html).words).replace("\u00a0", " ")
    for words in (
        "14.6 MB",
        "6.2× smaller",
        "13.8× faster (13.4–14.2×)",
        "estimated",
        "no location set",
        "1 killed",
        "98.1 %",
    ):
        assert words in text


def test_markdown_tables_are_square_and_hold_hostile_names(tmp_path: Path) -> None:
    run = make_full(tmp_path / "demo")
    spoil(run, "a|b <img src=x> [l](x) `c`\n# d")
    report.write(run)
    text = (run / "report.md").read_text().split("## Reproduce this run")[0]
    assert not re.search(r"(?<!\\)<img", text) and "\n# d" not in text
    assert "no difference shown" not in text and "is shown" in text, "the comparisons are there"
    for start in ("| model | a", "| stage | a", "| stage | further", "| stage | entries"):
        table = text[text.index(start) :].split("\n\n")[0].splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table}) == 1
        assert len(table) >= 2 + len(METHODS)
