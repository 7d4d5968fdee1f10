"""A tiny model for each kind of answer, and inputs of the form that each takes."""

from pathlib import Path
from typing import Any

import tiny
from niwaki.engines.export import write_graph
from niwaki.models.model import Model

ROWS = [text for text, _ in tiny.sentences(24, seed=3)]
LONG = " ".join(ROWS[:18])  # does not fit into a window
KINDS: dict[str, tuple[dict[str, Any], list[str], str]] = {  # settings, labels, head
    "label": ({}, ["no", "maybe", "yes"], "SequenceClassification"),
    "labels": ({"threshold": 0.4}, ["a", "b", "c", "d"], "SequenceClassification"),
    "number": ({"mean": 30.0, "scale": 12.5}, ["value"], "SequenceClassification"),
    "choice": ({}, ["score"], "SequenceClassification"),
    "tags": ({}, ["O", "B-PER", "I-PER"], "TokenClassification"),
    "roles": (
        {"rolesets": "good good.02 good.01\nfilm film.01"},
        ["O", "P", "B-A0", "I-A0", "S-01", "S-02"],
        "TokenClassification",
    ),
    "span": ({"stride": 8, "longest": 6}, ["start", "end"], "QuestionAnswering"),
}
INPUTS: dict[str, list[Any]] = {
    "label": [*ROWS, *zip(ROWS[:6], ROWS[6:], strict=False)],
    "labels": ROWS,
    "number": list(zip(ROWS[:12], ROWS[12:], strict=True)),
    "choice": [(ROWS[number], ROWS[number + 1 : number + 3 + number % 3]) for number in range(18)],
    "tags": [text.rstrip(".").split() for text in ROWS] + [["film"], LONG.split()],
    "roles": [text.rstrip(".").split() for text in ROWS]
    + [(text.rstrip(".").split(), 2) for text in ROWS]
    + [LONG.split(), ["film"]],
    "span": [("was it good", ROWS[number]) for number in range(12)] + [("the end", LONG), ("a plot and a scene", LONG)],
}


def model_of(kind: str, **more: Any) -> Model:
    settings, labels, head = KINDS[kind]
    model = tiny.model("bert", layers=2, labels=labels, head=head, seed=5)
    model.network.config.niwaki_answer = {"kind": kind, **settings, **more}
    return model


def saved(model: Model, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    model.save(folder)
    write_graph(model, folder)
    return folder
