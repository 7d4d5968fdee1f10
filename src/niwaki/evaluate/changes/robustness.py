"""How often small edits of the text change the prediction of each model, on the same edits."""

from collections.abc import Iterator, Sequence

import numpy as np

from niwaki.answers._answer_type import Input
from niwaki.core.json_types import Json
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.changes.answered import Answered
from niwaki.evaluate.changes.churn import changed_rows, share
from niwaki.evaluate.changes.edits import EDITS, EditKind, edited
from niwaki.evaluate.changes.paired import holm, mean_loss

ROWS = 200


def robustness(first: Answered, second: Answered, inputs: Sequence[Input], seed: int) -> list[Json]:
    """Shares of flipped predictions by edit, and their paired difference (B − A). Edits for which no row has a place are left out."""
    some = np.sort(numpy_generator(seed, "robustness").permutation(len(inputs))[:ROWS])
    found = [row for name, kind in EDITS.items() for row in _flips(name, kind, first, second, inputs, some, seed)]
    for row, p in zip(found, holm([row["more"]["p"] for row in found]), strict=True):
        row["more"]["p_corrected"] = float(p)
    return found


def _flips(
    name: str, kind: EditKind, first: Answered, second: Answered, inputs: Sequence[Input], some: np.ndarray, seed: int
) -> Iterator[Json]:
    pairs = [(row, edited(inputs[row], kind, numpy_generator(seed, "edit", name, int(row)))) for row in some.tolist()]
    rows, changed = [row for row, text in pairs if text is not None], [text for _, text in pairs if text is not None]
    if not rows:
        return
    flips = [flipped(model, rows, changed) for model in (first, second)]
    a, b = (share(int(one.sum()), len(rows)) for one in flips)
    more = mean_loss(flips[1].astype(float), flips[0].astype(float), seed)
    yield {"edit": name, "rows": len(rows), "a": a, "b": b, "more": more}


def flipped(model: Answered, rows: Sequence[int], inputs: Sequence[Input]) -> np.ndarray:
    """(rows,) whether the prediction for the edited input differs from that for the row."""
    return changed_rows([model.values[row] for row in rows], model.predictor.values(inputs), model.same)
