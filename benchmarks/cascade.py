"""Checks the guarantee of cascades on simulated models: `python benchmarks/cascade.py [DRAWS]`. Appends to results/cascade.jsonl.

Simulated models of known quality answer simulated rows. Thresholds and temperatures are chosen on a few rows, as in `niwaki cascade`, and
the score that is really kept is measured on 100,000 others. Over many draws, the guarantee must hold at least as often as its level.
"""

import sys
from typing import Any

import numpy as np
from records import append, circumstances

from niwaki.answers._answer_type import softmax
from niwaki.evaluate.thresholds import answered_by, choose_threshold, fit_temperature
from niwaki.tasks._metrics import accuracy, all_labels_wrong, f1_binary, f1_macro

POPULATION = 100_000
MEASURES = {"accuracy": accuracy, "f1": f1_binary, "f1_macro": lambda predicted, gold: f1_macro(predicted, gold, 4)}


class SimulatedTask:
    """The part of a task and its scorer that the choice of a threshold needs."""

    def __init__(self, metric: str) -> None:
        self.metric, self.scorer = metric, self

    def scores(self, example_stats: np.ndarray) -> dict[str, float]:
        return {self.metric: MEASURES[self.metric](example_stats[:, 0], example_stats[:, 1])}

    def all_wrong(self, example_stats: np.ndarray) -> np.ndarray:
        return all_labels_wrong(example_stats)


def rows(
    generator: np.random.Generator, count: int, skills: tuple[float, ...], labels: int, alike: float
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Gold labels, and the logits of overconfident models: a signal by skill plus noise that is partly shared."""
    share = np.array([0.68, *[0.32 / (labels - 1)] * (labels - 1)])
    gold = generator.choice(labels, count, p=share)
    hard = np.abs(generator.normal(size=count)) ** 0.5  # some rows are hard for all models
    common = generator.normal(size=(count, labels))
    found = []
    for number, skill in enumerate(skills):
        noise = alike * common + np.sqrt(1 - alike**2) * generator.normal(size=(count, labels))
        signal = np.zeros((count, labels))
        signal[np.arange(count), gold] = skill / hard
        found.append((2.5 - 0.5 * number) * (signal + noise))
    return gold, found


def example_stats(logits: np.ndarray, gold: np.ndarray) -> np.ndarray:
    return np.stack([logits.argmax(axis=1), gold], axis=1)


def sure(logits: np.ndarray) -> np.ndarray:
    return softmax(logits).max(axis=1)


def draw(seed: int, setting: dict[str, Any]) -> dict[str, float] | None:
    """The share of the score that is really kept, and the share of inputs that stop before the last model."""
    generator = np.random.default_rng([seed, setting["rows"], len(setting["skills"]), setting["labels"]])
    task = SimulatedTask(setting["metric"])
    gold, logits = rows(generator, setting["rows"], setting["skills"], setting["labels"], setting["alike"])
    temperatures = [fit_temperature(one, gold) for one in logits]
    logits = [one / t for one, t in zip(logits, temperatures, strict=True)]
    chosen = choose_threshold(
        task,
        [sure(one) for one in logits],
        [example_stats(one, gold) for one in logits],
        setting["keep"],
        setting["level"],
    )  # type: ignore[arg-type]
    if chosen is None:
        return None
    gold, logits = rows(generator, POPULATION, setting["skills"], setting["labels"], setting["alike"])
    confidence = np.stack([sure(one / t) for one, t in zip(logits[:-1], temperatures, strict=False)])
    by = answered_by(confidence, chosen.threshold)
    every = np.stack([example_stats(one, gold) for one in logits])
    score_share = (
        task.scorer.scores(every[by, np.arange(POPULATION)])[task.metric] / task.scorer.scores(every[-1])[task.metric]
    )
    return {
        "kept": score_share,
        "early": float((by < len(logits) - 1).mean()),
        "best": task.scorer.scores(every[-1])[task.metric],
    }


def settings() -> list[dict[str, Any]]:
    base = {
        "rows": 872,
        "skills": (1.5, 3.0),
        "labels": 2,
        "alike": 0.5,
        "metric": "accuracy",
        "keep": 0.99,
        "level": 0.95,
    }
    changes: list[dict[str, Any]] = [
        {},
        {"rows": 300, "keep": 0.97},
        {"rows": 4000},
        {"alike": 0.0},
        {"alike": 0.9},
        {"skills": (0.8, 1.5, 3.0)},
        {"labels": 4},
        {"level": 0.8},
        {"metric": "f1"},
        {"metric": "f1", "rows": 300, "keep": 0.97},
        {"metric": "f1_macro", "labels": 4, "rows": 1500},
    ]
    return [{**base, **change} for change in changes]


def simulated(setting: dict[str, Any], draws: int) -> dict[str, Any]:
    found = [draw(seed, setting) for seed in range(draws)]
    chosen = [one for one in found if one is not None]
    held = (
        sum(one["kept"] >= setting["keep"] for one in chosen) + len(found) - len(chosen)
    )  # no threshold means no loss
    means = {key: float(np.mean([one[key] for one in chosen])) if chosen else None for key in ("kept", "early", "best")}
    return {**setting, "draws": draws, "none": len(found) - len(chosen), "held": held / draws, **means}


def main(draws: int) -> None:
    for setting in settings():
        found = simulated(setting, draws if setting["metric"] == "accuracy" else draws // 4)  # a bootstrap is slow
        print(found, flush=True)
        append("cascade", {"population": POPULATION, "settings": [found], **circumstances()})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
