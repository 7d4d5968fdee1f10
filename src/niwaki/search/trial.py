"""One trial: rejects a point that cannot be made or is too large, makes its stages, and measures the model in every format and engine.

What the sampler learns, `losses`, follows from scores and sizes, which a repeated trial would give again, and from predicted times. The
measured times decide which model is selected.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from niwaki.core.errors import InputError, first_line
from niwaki.core.json_types import Json
from niwaki.run.plan import Plan
from niwaki.run.recipe import to_toml
from niwaki.search import timing
from niwaki.search.halving import expected_gain, losses_at, promoted
from niwaki.search.job import SearchJob, to_json
from niwaki.search.limits import MB, Figures, cost, loss, shortfalls
from niwaki.search.points import FLOAT, copy_name, parts_in, recipe_of
from niwaki.search.predict import Forecast, Size, figures, timed
from niwaki.search.source import figures_of_source
from niwaki.search.space import Point

WORST = 10.0  # loss of a point that cannot be made
MARGIN = 1.05  # of the size limit: predicted sizes of the files that are not weights are rough
DONE, STOPPED, REJECTED, FAILED = "done", "stopped", "rejected", "failed"


def run_trial(job: SearchJob, forecast: Forecast, source: Json, earlier: Sequence[Json], point: Point) -> Json:
    """The record of a trial. What fails is recorded and does not end the search."""
    began, found = time.monotonic(), {"point": dict(point), "losses": [WORST] * objectives_of(job)}
    try:
        found |= Trial(job, forecast, source, earlier, point).run()
    except (OSError, MemoryError):  # e.g. a full disk: no other point would do better
        raise
    except Exception as error:  # noqa: BLE001 - of any method or library, with settings that nobody has tried before
        found |= {"status": FAILED, "reason": f"{type(error).__name__}: {first_line(error)}"}
    return {**found, "seconds": time.monotonic() - began}


def objectives_of(job: SearchJob) -> int:
    return 2 if job.settings.sampler == "nsga2" else 1


class Trial:
    """`earlier` are the records of all trials before this one."""

    def __init__(self, job: SearchJob, forecast: Forecast, source: Json, earlier: Sequence[Json], point: Point) -> None:
        self.job, self.forecast, self.source, self.earlier, self.point = job, forecast, source, earlier, point
        self.name = f"trial {len(earlier)}"

    def run(self) -> Json:
        job = self.job
        last = (job.space.stages_of(self.point) or (job.space.source,))[-1]
        try:
            recipe = recipe_of(job.space, self.point, job.settings.halvings)
            parts = parts_in(recipe, last)
            kinds = [kind for kind in self.source["kinds"] if kind in job.settings.copies]
            sizes = self.forecast.sizes(recipe, parts[-1], kinds)
        except InputError as error:
            return {"status": REJECTED, "reason": error.faults[0]}
        fitting = self.fitting(sizes)
        if not fitting:
            return self.too_large(sizes)
        plan = job.plan(recipe_of(job.space, self.point, job.settings.halvings, list(fitting)))
        part_scores, losses = self.train(plan, parts, fitting)
        found = {"part_scores": part_scores, "part_losses": losses}
        if len(part_scores) < len(parts):
            reason = f"in the worse half after part {len(part_scores)} of {len(parts)} of its last training"
            return {**found, "status": STOPPED, "reason": reason, "losses": [losses[-1]] * objectives_of(job)}
        return {**found, "status": DONE, **self.measured(plan, parts[-1], fitting)}

    def fitting(self, sizes: Mapping[str, Size]) -> dict[str, Size]:
        """The number formats whose predicted size is within the limit."""
        limit = self.job.settings.max_mb
        return {kind: size for kind, size in sizes.items() if limit is None or size.bytes <= MARGIN * limit * MB}

    def too_large(self, sizes: Mapping[str, Size]) -> Json:
        least = min(size.bytes for size in sizes.values())
        reason = f"at least {least / MB:.3g} MB by its shapes, limit {self.job.settings.max_mb} MB"
        return {"status": REJECTED, "reason": reason, "losses": self.losses([Figures(1.0, least)])}

    def train(self, plan: Plan, parts: Sequence[str], sizes: Mapping[str, Size]) -> tuple[list[float], list[float]]:
        """The share of the source's score after each part of the last training, and the losses before the last part."""
        part_scores: list[float] = []
        losses: list[float] = []
        for number, part in enumerate(parts):
            self.job.make(plan, part)
            with self.job.charged(self.name):
                part_scores.append(self.job.score(plan, part) / self.source["score"])
            if part == parts[-1]:
                break
            kept = part_scores[-1] + expected_gain(self.earlier, number)
            losses.append(min(self.losses([self.predicted(kept, kind, size)])[0] for kind, size in sizes.items()))
            whole = self.job.settings.sampler == "grid"  # an exhaustive grid ends nothing early
            if not whole and not promoted(losses[-1], losses_at(self.earlier, number)):
                break
        return part_scores, losses

    def predicted(self, kept: float, kind: str, size: Size, engine: str = "") -> Figures:
        """The figures of the model in a number format, with its predicted time in an engine, by default the source's."""
        known = timed(self.source["times"], kind, engine or self.source["engine"], size.flops)
        return figures(kept, size.bytes, known)

    def losses(self, candidates: Sequence[Figures]) -> list[float]:
        """What the sampler minimizes: the loss of the best candidate; for a Pareto front, score and cost."""
        settings, source = self.job.settings, figures_of_source(self.source)
        best = min(candidates, key=lambda one: loss(one, source, settings))
        if objectives_of(self.job) == 1:
            return [loss(best, source, settings)]
        penalty = min(sum(shortfalls(best, settings).values()), WORST)
        other = "bytes" if settings.objective == "score" else settings.objective
        both = (cost(best, source, "score"), cost(best, source, other))
        return [min(value, WORST) + penalty for value in both]

    def measured(self, plan: Plan, last: str, sizes: Mapping[str, Size]) -> Json:
        """The model in every number format and engine, with its times."""
        job = self.job
        for kind in sizes:
            job.make(plan, copy_name(last, kind))
        with job.charged(self.name):
            found = job.variants(plan, last, list(sizes))
            models = {one.label: (one.model, one.engine) for one in found}
            reference = (job.folder / self.source["model"], self.source["engine"])
            times = timing.times_of(timing.race(models, reference, job.task, job.window), self.source["time"])
        variants = []
        for one in found:
            known = timed(self.source["times"], one.kind, one.engine, one.flops)
            size = asdict(sizes[one.kind])
            variants.append({**to_json(one, job.folder), **times[one.label], "predicted": {**known, **size}})
        own = [
            self.predicted(one.score / self.source["score"], one.kind, Size(one.bytes, one.flops), one.engine)
            for one in found
        ]
        return {"variants": variants, "losses": self.losses(own)}


def recipe_text(job: SearchJob, point: Point) -> str:
    """The recipe of a trial as TOML, with its copies; `niwaki run` makes the same stages."""
    copies = [kind for kind in job.settings.copies if kind != FLOAT]
    return to_toml(recipe_of(job.space, point, job.settings.halvings, copies))
