"""The page of a comparison as one HTML file, with the style, the script and the security policy of the report."""

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report import changes_words as words
from niwaki.report import formatting
from niwaki.report.conditions import conditions
from niwaki.report.page import asset, environment, policy
from niwaki.report.plots import interval_bar, reliability
from niwaki.report.run_files import clean, mapping

MOST_TEXTS = 100  # of each kind
MOST_DEPTHS = 9  # columns and rows of a matrix that a phone shows
MOST_HEADS = 6
MOST_GROUPS = 60
SHADES = 9
BUSY = "Treat speed and energy as rough, and compare again on a quiet machine"
WIDEST = 0.2  # bars of intervals reach to 20 points at most


def page(facts: Json) -> str:
    facts = mapping(clean(facts))
    style, script = asset("page.css") + asset("changes.css"), asset("page.js")
    return (
        templates()
        .get_template("changes.html.j2")
        .render(
            found=facts,
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            texts=texts_by_kind(facts),
            groups=with_bars(facts["groups"][:MOST_GROUPS]),
            more_groups=max(0, len(facts["groups"]) - MOST_GROUPS),
            diagrams=diagrams(facts),
            similarity=matrix(facts["layers"]["similarity"]),
            attention=attention(facts["layers"]["attention"]),
            most_texts=MOST_TEXTS,
            most_heads=MOST_HEADS,
            busy=conditions(facts["speed"], BUSY)["note"] if facts["speed"] else "",
        )
    )


@cache
def templates() -> Environment:
    found = environment(html=True).overlay()
    found.filters.update(
        percent=words.percent,
        with_share=words.share,
        points=words.points,
        p_value=words.p_value,
    )
    found.globals.update(words=words, kinds=words.KINDS, verdicts=words.VERDICTS, score=formatting.score)
    return found


def texts_by_kind(facts: Json) -> dict[str, list[Json]]:
    return {kind: [row for row in facts["texts"] if row["kind"] == kind] for kind in words.KINDS}


def with_bars(rows: list[Json]) -> list[Json]:
    """Rows of groups with a drawing of their interval, to the left what is lost."""
    most = min(WIDEST, max((max(abs(row["low"]), abs(row["high"])) for row in rows), default=WIDEST)) or WIDEST
    return [{**row, "bar": interval_bar.draw(-row["loss"], -row["high"], -row["low"], most)} for row in rows]


def diagrams(facts: Json) -> list[tuple[str, Markup]]:
    found = facts["calibration"]
    if not found:
        return []
    names = {side: facts["models"][side]["name"] for side in ("a", "b")}
    return [
        (
            names[side],
            reliability.draw(names[side], found[side]["before"]["reliability"], found[side]["after"]["reliability"]),
        )
        for side in ("a", "b")
    ]


def matrix(values: list[list[float]] | None) -> Json | None:
    """Cells in hundredths with a shade, of at most MOST_DEPTHS evenly spaced depths each way."""
    if not values:
        return None
    rows, columns = spaced(len(values)), spaced(len(values[0]))
    return {"columns": columns, "rows": [(row, [cell(values[row][column]) for column in columns]) for row in rows]}


def spaced(count: int) -> list[int]:
    if count <= MOST_DEPTHS:
        return [*range(count)]
    return [round(at * (count - 1) / (MOST_DEPTHS - 1)) for at in range(MOST_DEPTHS)]


def attention(found: Json | None) -> Json | None:
    """By layer of B: the layer of A, the mean over the heads, and the heads where they can be matched."""
    if not found:
        return None
    layers = [
        (number, before, cell(sum(heads) / len(heads)), [cell(head) for head in heads] if len(heads) > 1 else [])
        for number, (before, heads) in enumerate(zip(found["matched"], found["layers"], strict=True))
    ]
    return {"heads": max(len(heads) for *_, heads in layers), "rows": layers}


def cell(value: float | None) -> tuple[str, int]:
    """Hundredths, and the number of the shade."""
    if value is None:
        return "–", 0
    return f"{100 * value:.0f}", min(SHADES, max(0, round(SHADES * value)))
