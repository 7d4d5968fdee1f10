"""Tries candidates level by level, each through the runner, until one is good enough.

Without a budget the search ends with the first level that has a good candidate. A limit on size or latency lets it go on until a
good candidate is within it, a limit on time until the time is over. Finished stages are reused, so a killed search resumes.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from niwaki.compression.budget import Budget
from niwaki.compression.candidates import COPIES, SOURCE, Level, named_levels, recipe_levels, recipe_of
from niwaki.compression.judge import Candidate, Found, Goal, choose, judge
from niwaki.compression.rows import Rows
from niwaki.core.errors import GateMissed
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.run.result import Run
from niwaki.run.runner import execute
from niwaki.train.loop import Interrupted


def search(source: Path, rows: Rows, goal: Goal, methods: Sequence[str] | None, folder: Path) -> Found:
    """The best candidate. Raises GateMissed if none is good enough or within the budget."""
    began = time.monotonic()
    deadline = began + (goal.budget.seconds or float("inf"))
    tried: list[Level] = []
    candidates: list[Candidate] = []
    for level in levels(source, rows, methods, deadline):
        try:
            run = run_levels(source, rows, [*tried, level], folder, deadline if tried else float("inf"))
        except Interrupted:
            if time.monotonic() < deadline:
                raise
            info(f"{level.name}: the time is over; the same call with more time goes on from here")
            run = run_levels(source, rows, tried, folder)
            break
        tried.append(level)
        candidates = judge(run, recipe_of(source, rows, tried).make_task(), goal)
        chosen = choose(candidates, goal.prefer)
        info(f"{level.name}: {summary(chosen)}")
        if chosen and goal.budget.seconds is None:
            break
    if (chosen := choose(candidates, goal.prefer)) is None:
        raise GateMissed(shortfall(candidates, goal))
    return Found(folder, run.model(chosen.name), candidates, chosen, time.monotonic() - began)


def make_one(source: Path, rows: Rows, stage: Json, folder: Path) -> Found:
    """The model of one stage after the source, whatever its score."""
    began, level = time.monotonic(), Level(str(stage["name"]), (stage,))
    run = run_levels(source, rows, [level], folder)
    candidates = judge(run, recipe_of(source, rows, [level]).make_task(), Goal(0.0, Budget(), "size"))
    chosen = next(one for one in candidates if one.name == level.name)
    return Found(folder, run.model(chosen.name), candidates, chosen, time.monotonic() - began)


def levels(source: Path, rows: Rows, methods: Sequence[str] | None, deadline: float) -> Iterator[Level]:
    """Named levels all at once. Otherwise quantized copies, then recipes that fit into the time, the cheapest first."""
    if methods is not None:
        named = named_levels(methods, rows)
        yield Level(" and ".join(methods), tuple(stage for level in named for stage in level.stages), named[0].copies)
        return
    yield Level("quantized copies", (), COPIES)
    for level, seconds in recipe_levels(source, rows):
        if time.monotonic() + seconds > deadline:
            info(f"{level.name}: left out, it would take about {seconds:.0f} s")
            continue
        info(f"{level.name}: about {seconds:.0f} s")
        yield level


def run_levels(source: Path, rows: Rows, tried: list[Level], folder: Path, deadline: float = float("inf")) -> Run:
    return Run(folder, execute(recipe_of(source, rows, tried), folder.name, folder, deadline))


def summary(chosen: Candidate | None) -> str:
    return f"{chosen.name} is good enough, {chosen.bytes / 1e6:.1f} MB" if chosen else "no candidate is good enough"


def shortfall(candidates: Sequence[Candidate], goal: Goal) -> str:
    """What the nearest candidate lacks, and what to change."""
    others = [one for one in candidates if one.name != SOURCE]
    if not others:
        return "compress: the model has no smaller copy; it is quantized already, or name other methods"
    good = [one for one in others if one.good_enough]
    if not good:
        best = max(others, key=lambda one: one.score)
        kept = "" if best.kept is None else f", {best.kept:.1%} of the source's"
        return (
            f"compress: no candidate keeps {goal.keep:.0%} of the score; the best is {best.name} with {best.score:.4f}{kept}; "
            "lower keep, or give more rows or time"
        )
    near = (
        min(good, key=lambda one: one.latency_ms or 0.0)
        if goal.budget.latency_ms
        else min(good, key=lambda one: one.bytes)
    )
    latency = "" if near.latency_ms is None else f" and {near.latency_ms:.2g} ms"
    return (
        f"compress: no candidate that keeps {goal.keep:.0%} of the score is within the budget of {goal.budget}; the nearest is "
        f"{near.name} with {near.bytes / 1e6:.2g} MB{latency}; raise the budget, or lower keep"
    )
