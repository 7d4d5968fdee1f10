"""Language models on cloze tasks: the share of sentences in which the right choice is the likeliest.

A masked language model compares the logits of the choices at the mask; choices of several tokens are left out. A causal model, which does not
see what follows the mask, compares the log-likelihoods of the whole sentences.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import progress
from niwaki.core.seeds import numpy_generator
from niwaki.evaluate.cloze._cloze import CLOZE, Cloze, Item
from niwaki.evaluate.quality import bootstrap_rows, interval


class Scores(Protocol):
    """A language model: a score for each choice of each item, -inf for choices that it cannot score."""

    def __call__(self, items: Sequence[Item]) -> np.ndarray: ...


def cloze_scores(models: Mapping[str, Scores], names: Sequence[str], count: int, seed: int) -> Json:
    """For each task and model the accuracy with a 95 % interval."""
    results: Json = {}
    with progress("cloze", len(names) * len(models)) as update:
        for name in names:
            items = CLOZE.load(name, Cloze)().items(numpy_generator(seed, "cloze", name), count)
            found = {label: accuracy(items, score(items)) for label, score in models.items()}
            results[name] = {"items": len(items), "choices": list(items[0].choices), "models": found}
            update(len(results) * len(models), name)
    return {"version": 1, "seed": seed, "cloze": results}


def accuracy(items: Sequence[Item], scores: np.ndarray) -> Json:
    """Scores (items, choices). Items of which a choice has no score are left out."""
    usable = np.isfinite(scores).all(axis=1)
    if not usable.any():
        raise InputError("cloze: no choice is a single token of the model's vocabulary")
    gold = np.array([item.answer for item in items])[usable]
    right = scores[usable].argmax(axis=1) == gold
    bounds = interval([float(right[rows].mean()) for rows in bootstrap_rows(len(right), 0)])
    return {"value": float(right.mean()), **bounds, "scored": int(usable.sum()), "chance": 1 / scores.shape[1]}


def table(found: Json) -> str:
    lines = [f"{'task':<16} {'model':<24} {'accuracy':>22} {'chance':>7} {'items':>6}"]
    for name, task in found["cloze"].items():
        for label, one in task["models"].items():
            shown = f"{100 * one['value']:.1f} ({100 * one['low']:.1f}–{100 * one['high']:.1f})"
            lines.append(f"{name:<16} {label[:24]:<24} {shown:>22} {100 * one['chance']:>7.1f} {one['scored']:>6}")
    return "\n".join(lines)
