"""Which point comes next, by Optuna.

The study is rebuilt from the recorded losses whenever a search starts, and the sampler gets a new seed for each trial. So the next point
follows from the seed and the recorded losses alone, however often the search was killed.
"""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from niwaki.core.seeds import derive, numpy_generator
from niwaki.search.space import Dimension, Point, Space, Value

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.trial import Trial

STARTING = 8  # random points before TPE has a model
POPULATION = 8
REPEATS = 30  # proposals of known points before an unknown one is drawn at random
ENUMERATED = 20_000  # points of a space that are listed to find an unknown one
DRAWS = 1000


class Proposals:
    """Points in turn. `objectives` is the number of losses of a trial."""

    def __init__(self, space: Space, sampler: str, seed: int, objectives: int = 1) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space, self.kind, self.seed = space, sampler, seed
        self.study = optuna.create_study(directions=["minimize"] * objectives)
        self.known: dict[str, Sequence[float]] = {}
        self.proposed = 0
        self.grid = space.points() if sampler == "grid" else None
        self.pending: Trial | None = None

    def next(self) -> Point | None:
        """A point that was not tried yet; None if there is none."""
        if self.grid is not None:
            return next(self.grid, None)
        for _ in range(REPEATS):
            self.study.sampler = self._sampler(derive(self.seed, "proposal", self.proposed))
            trial, self.proposed = self.study.ask(), self.proposed + 1
            point = suggested(trial, self.space)
            losses = self.known.get(key_of(point))
            if losses is None:
                self.pending = trial
                return point
            self.study.tell(trial, list(losses))
        return self._unknown()

    def tell(self, point: Point, losses: Sequence[float]) -> None:
        """The losses of the point that `next` gave last."""
        self.known[key_of(point)] = losses
        if self.pending is not None:
            self.study.tell(self.pending, list(losses))
            self.pending = None

    def importance(self) -> dict[str, float]:
        """The share of each dimension in the variance of the loss (fANOVA over the points tried); {} if it cannot be estimated."""
        import optuna

        try:
            found = optuna.importance.get_param_importances(
                self.study,
                evaluator=optuna.importance.FanovaImportanceEvaluator(seed=self.seed % 2**31),
                target=None if len(self.study.directions) == 1 else lambda trial: trial.values[0],
            )
        except (ValueError, RuntimeError):  # too few trials, or all losses are equal
            return {}
        return {name: float(share) for name, share in found.items()}

    def _sampler(self, seed: int) -> "BaseSampler":
        from optuna import samplers

        short = seed % 2**31
        if self.kind == "random":
            return samplers.RandomSampler(seed=short)
        if self.kind == "nsga2":
            return samplers.NSGAIISampler(seed=short, population_size=POPULATION)
        return samplers.TPESampler(seed=short, n_startup_trials=STARTING)

    def _unknown(self) -> Point | None:
        """A point that was not tried yet, drawn at random."""
        generator = numpy_generator(self.seed, "unknown", self.proposed)
        self.proposed += 1
        if self.space.size() <= ENUMERATED:
            listed = [point for point in self.space.points() if key_of(point) not in self.known]
            return listed[int(generator.integers(len(listed)))] if listed else None
        for _ in range(DRAWS):
            draws = (int(generator.integers(len(one.values))) for one in self.space.dimensions)
            chosen = {one.path: one.values[draw] for one, draw in zip(self.space.dimensions, draws, strict=True)}
            point = {one.path: chosen[one.path] for one in self.space.active(chosen)}
            if key_of(point) not in self.known:
                return point
        return None


def key_of(point: Point) -> str:
    return json.dumps(dict(point), sort_keys=True)


def suggested(trial: "Trial", space: Space) -> Point:
    """Asks the sampler for the stages first, then for what matters in them."""
    point: dict[str, Value] = {}
    for dimension in _first_stages(space):
        if dimension in space.active(point):
            point[dimension.path] = dimension.values[_place(trial, dimension)]
    return point


def _first_stages(space: Space) -> Iterator[Dimension]:
    yield from (one for one in space.dimensions if not one.stage)
    yield from (one for one in space.dimensions if one.stage)


def _place(trial: "Trial", dimension: Dimension) -> int:
    """The position of the value. Ordered values are integers, so that the sampler can interpolate."""
    last = len(dimension.values) - 1
    if dimension.is_ordered:
        return trial.suggest_int(dimension.path, 0, last)
    return int(trial.suggest_categorical(dimension.path, list(range(last + 1))))
