"""The page of `niwaki look` as one HTML file: what a model does with one text. As the report, it loads nothing and its texts are escaped."""

import base64
import json
from collections.abc import Sequence

from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report.page import asset, environment, policy

LEVELS = 5  # shades of a mark
OF_WORDS = ("tags", "roles", "senses")  # answer types that read a list of words
NAMES = {
    "attention": "Attention",
    "layers": "Predictions of each layer",
    "integrated_gradients": "Integrated gradients",
    "occlusion": "Words left out",
    "neighbours": "Similar rows",
}


def page(facts: Json) -> str:
    """From what `Look.to_json` gives."""
    style = asset("page.css") + asset("look.css")
    script = asset("look.js")
    return (
        environment(html=True)
        .get_template("look.html.j2")
        .render(
            look=facts,
            texts=_texts(facts["input"], facts["kind"]),
            attributions=attributions(facts),
            data=data_block(facts["attention"], facts["tokens"]),
            names=NAMES,
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
        )
    )


def _texts(given: object, kind: str) -> list[str]:
    """The parts of an input, as lines."""
    if not isinstance(given, list | tuple):
        return [str(given)]
    if kind in OF_WORDS:
        return [" ".join(map(str, given))]
    return [part if isinstance(part, str) else " / ".join(map(str, part)) for part in given]


def attributions(facts: Json) -> list[Json]:
    """The words, marked by each of the two attributions."""
    found = []
    for key in ("integrated_gradients", "occlusion"):
        if facts[key] and facts["words"]:
            values = facts[key]["words"]
            shown = [
                {"text": word, "value": value, "mark": mark}
                for word, value, mark in zip(facts["words"], values, shades(values), strict=True)
            ]
            found.append({"key": key, "name": NAMES[key], "words": shown})
    return found


def shades(values: Sequence[float | None]) -> list[str]:
    """A class for each value: for1 … for5 for positive ones, against1 … against5 for negative ones, by their share of the largest."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)

    def shade(value: float | None) -> str:
        level = round(LEVELS * abs(value) / largest) if value and largest else 0
        return f"{'for' if value and value > 0 else 'against'}{level}" if level else ""

    return [shade(value) for value in values]


def data_block(attention: Json | None, tokens: Sequence[str]) -> Markup | None:
    """Attention weights for the script, a byte each: layer by layer, head by head, row by row. No text of it can end the block."""
    if not attention:
        return None
    layers = attention["weights"]
    flat = bytes(round(255 * weight) for layer in layers for head in layer for row in head for weight in row)
    found = {
        "tokens": list(tokens[: attention["tokens"]]),
        "heads": [len(layer) for layer in layers],
        "mean": attention["mean_over_heads"],
        "weights": base64.b64encode(flat).decode(),
    }
    escaped = json.dumps(found).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(escaped)
