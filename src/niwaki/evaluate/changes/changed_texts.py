"""The rows whose prediction changed, those first in which both models are confident."""

import json
from collections.abc import Sequence

import numpy as np

from niwaki.answers._answer_type import Input, Value
from niwaki.core.json_types import Json
from niwaki.data.image_bytes import EncodedImage
from niwaki.evaluate.changes.answered import Answered

MOST_LETTERS = 1000


def changed_texts(
    first: Answered, second: Answered, inputs: Sequence[Input], gold: Sequence[Value], changed: np.ndarray
) -> list[Json]:
    """Without confidences, in the order of the rows."""
    rows = np.flatnonzero(changed)
    order = np.argsort(-_sure(first, second)[rows], kind="stable")
    return [_row(first, second, inputs, gold, int(row)) for row in rows[order]]


def _sure(first: Answered, second: Answered) -> np.ndarray:
    """(rows,) the smaller confidence of the two."""
    if first.confidence is None or second.confidence is None:
        return np.zeros(len(first.values))
    return np.minimum(first.confidence, second.confidence)


def _row(first: Answered, second: Answered, inputs: Sequence[Input], gold: Sequence[Value], row: int) -> Json:
    before, after = first.credit[row], second.credit[row]
    return {
        "row": row,
        "text": shown(inputs[row]),
        "gold": shown(gold[row]),
        "kind": "fixed" if after > before else "broken" if after < before else "neither",
        **{
            side: {
                "value": shown(one.values[row]),
                "confidence": None if one.confidence is None else float(one.confidence[row]),
            }
            for side, one in (("a", first), ("b", second))
        },
    }


def shown(value: object) -> str:
    """A text, parts of a pair on lines of their own, the name of an image, anything else as JSON; cut after so many letters."""
    if isinstance(value, EncodedImage):
        text = value.name
    elif isinstance(value, tuple):
        text = "\n".join(shown(part) for part in value)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
