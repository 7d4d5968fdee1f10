"""Measures `niwaki search`: a search under limits, an exhaustive grid of the same space, and other samplers replayed on the grid.

    python benchmarks/search_budget.py search NAME RECIPE FOLDER [KEY=VALUE ...]   keys of a recipe's [search] table, or data
    python benchmarks/search_budget.py grid NAME RECIPE FOLDER [KEY=VALUE ...]     every point, by `sampler = grid` without halvings
    python benchmarks/search_budget.py replay NAME                                 on the newest grid of that name

A killed command resumes in FOLDER. A replay draws points with `niwaki.search`'s own proposals and looks up what the grid measured, so
that many seeds of several samplers can be compared at equal joules. Appends records to results/search_budget.jsonl.
"""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from records import append, circumstances, read

import niwaki
from niwaki.core.json_types import Json
from niwaki.meter.ledger import Ledger
from niwaki.search.halving import expected_gain, losses_at, promoted
from niwaki.search.proposals import Proposals, key_of
from niwaki.search.space import Dimension, Space

SEEDS = 200
SHARES = (0.1, 0.2, 0.3, 0.5)  # of the joules of the whole grid
METHODS = ("niwaki", "tpe", "random")  # niwaki: tpe, with points rejected by their shapes and with halving


def search(kind: str, name: str, recipe: str, folder: str, *given: str) -> None:
    settings = dict(part.split("=", 1) for part in given)
    values = {key: tomllib.loads(f"value = {text}")["value"] for key, text in settings.items()}
    if kind == "grid":
        values |= {"sampler": "grid", "trials": 10_000}
    found = niwaki.search(recipe, values.pop("data", None), out=Path(folder) / "out", **values)  # type: ignore[operator]
    content = found.content
    record = {
        "kind": kind,
        "name": name,
        **{
            key: content[key]
            for key in ("task", "settings", "points", "dimensions", "predictors", "importance", "seed")
        },
        "source": {key: content["source"][key] for key in ("score", "bytes", "time", "engine")},
        "selected": without_race(content["selected"]),
        "spent": {key: content["spent"][key] for key in ("seconds", "cpu_seconds", "joules")},
        "trials": list(with_joules(content["trials"], found.run_folder)),
    }
    append("search_budget", {**record, **circumstances()})
    print(found)


def without_race(selected: Json) -> Json:
    return {key: value for key, value in selected.items() if key != "race"}


def with_joules(trials: list[Json], folder: Path) -> Iterator[Json]:
    """The trials with the joules of each part of their work, from the order of the charges: stages, then their evaluation."""
    parts: dict[str, list[float]] = {}
    pending = 0.0
    for line in Ledger(folder / "ledger.jsonl").lines():
        pending += line["reading"]["joules"] or 0.0
        if line["what"] == "evaluate":
            parts.setdefault(line["stage"], []).append(pending)
            pending = 0.0
    kept = ("number", "point", "status", "reason", "part_scores", "losses", "seconds")
    for trial in trials:
        variants = [
            {
                name: one[name]
                for name in ("format", "engine", "score", "bytes", "latency_ms", "p99_ms", "joules_per_1000")
            }
            for one in trial.get("variants", [])
        ]
        joules = parts.get(f"trial {trial['number']}", [])
        yield {**{key: trial[key] for key in kept if key in trial}, "variants": variants, "joules": joules}


class Entry(NamedTuple):
    """What the grid found at a point. `kept` and `bytes` are those of its best model within the size limit."""

    part_scores: list[float]
    kept: float
    bytes: float
    joules: list[float]
    rejected: bool


class Grid:
    """The newest grid of a name: score under the size limit, in shares of the source's score."""

    def __init__(self, record: Json) -> None:
        limit = record["settings"]["max_mb"] * 1e6
        stages = {path.split(".")[1] for path in record["dimensions"] if "." in path}
        dimensions = [
            Dimension(path, tuple(values), path.split(".")[1] if "." in path else "")
            for path, values in record["dimensions"].items()
        ]
        self.space = Space({}, "", tuple(stages), tuple(dimensions))
        whole = record["source"]["score"]
        self.table: dict[str, Entry] = {}
        for trial in record["trials"]:
            models = [one for one in trial["variants"] if one["bytes"] <= limit]
            best = max(models, key=lambda one: one["score"], default=None)
            self.table[key_of(trial["point"])] = Entry(
                trial.get("part_scores", []),
                best["score"] / whole if best else 0.0,
                best["bytes"] if best else 2 * limit,
                trial["joules"],
                trial["status"] == "rejected",
            )
        self.limit = limit
        trained = [sum(entry.joules) for entry in self.table.values() if not entry.rejected]
        self.joules, self.usual = sum(trained), float(np.median(trained))
        self.best = max(entry.kept for entry in self.table.values())
        self.points = len(self.table)

    def loss(self, kept: float, size: float) -> float:
        """As the search's own, for the objective score and a limit on the size."""
        missed = max(0.0, size / self.limit - 1)
        return 1 + missed if missed else 1 / (1 + max(kept, 1e-9))


def replay(grid: Grid, method: str, seed: int, budgets: list[float]) -> list[float]:
    """The best share of the score found at each budget of joules; 0 if no model within the limit was found."""
    proposals = Proposals(grid.space, "random" if method == "random" else "tpe", seed)
    spent, best, trials, found = 0.0, 0.0, list[Json](), list[float]()
    while len(found) < len(budgets):
        point = proposals.next()
        if point is None:
            return [*found, *[best] * (len(budgets) - len(found))]
        entry = grid.table[key_of(point)]
        joules, record = run(grid, method, entry, trials)
        spent += joules
        while len(found) < len(budgets) and spent > budgets[len(found)]:
            found.append(best)
        best = max(best, entry.kept if record["done"] else 0.0)
        trials.append(record)
        proposals.tell(point, [record["loss"]])
    return found


def run(grid: Grid, method: str, entry: Entry, trials: list[Json]) -> tuple[float, Json]:
    """The joules of a trial and its record. Without shapes, a model that is too large is trained before that is known."""
    final = grid.loss(entry.kept, entry.bytes)
    if entry.rejected:
        return (0.0 if method == "niwaki" else grid.usual), {"loss": final, "done": False}
    if method != "niwaki":
        return sum(entry.joules), {"loss": final, "done": True}
    reached: list[float] = []
    for part in range(len(entry.part_scores) - 1):
        reached.append(grid.loss(entry.part_scores[part] + expected_gain(trials, part), entry.bytes))
        if not promoted(reached[-1], losses_at(trials, part)):
            record = {
                "loss": reached[-1],
                "done": False,
                "part_scores": entry.part_scores[: part + 1],
                "part_losses": reached,
            }
            return sum(entry.joules[: part + 1]), record
    return sum(entry.joules), {"loss": final, "done": True, "part_scores": entry.part_scores, "part_losses": reached}


def replays(name: str) -> None:
    grids = [row for row in read("search") if row["kind"] == "grid" and row["name"] == name]
    grid = Grid(grids[-1])
    budgets = [share * grid.joules for share in SHARES]
    regrets = {
        method: 100 * (grid.best - np.array([replay(grid, method, seed, budgets) for seed in range(SEEDS)]))
        for method in METHODS
    }
    rows = []
    for method, found in regrets.items():
        ahead = regrets["niwaki"] - found  # paired by seed
        for place, share in enumerate(SHARES):
            rows.append({"method": method, "share": share, "joules": budgets[place], **spread(found[:, place])})
            rows[-1]["niwaki_minus"] = spread(ahead[:, place])
    record = {
        "kind": "replay",
        "name": name,
        "points": grid.points,
        "joules": grid.joules,
        "seeds": SEEDS,
        "rows": rows,
    }
    append("search_budget", {**record, **circumstances()})
    for row in rows:
        print(row)


def spread(values: np.ndarray) -> Json:
    """The mean with its 95 % interval by a bootstrap over seeds."""
    generator = np.random.default_rng(0)
    means = generator.choice(values, (2000, len(values))).mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high), "worst": float(values.max())}


if __name__ == "__main__":
    kind, *arguments = sys.argv[1:]
    if kind == "replay":
        replays(*arguments)
    else:
        search(kind, *arguments)
