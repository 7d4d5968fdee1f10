"""The source of a search: its score, and its time in every number format and engine. Recorded once.

If a limit or the objective is about time or energy, the source cut to one layer is timed too. From the two, the time of any number of
FLOPs is predicted.
"""

import time
from collections.abc import Sequence

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.run.plan import Plan
from niwaki.run.quantized import quantized_copies
from niwaki.run.recipe import parse
from niwaki.run.recipe_settings import Recipe
from niwaki.search import timing
from niwaki.search.job import SearchJob, Variant, to_json
from niwaki.search.journal import Journal
from niwaki.search.limits import Figures
from niwaki.search.points import FLOAT, copy_name, copy_of

ONE_LAYER = "one-layer"
TIMING = "timing of the source"  # its name in the ledger


def source_line(job: SearchJob, journal: Journal) -> Json:
    """The record of the source, made unless the journal has it."""
    if journal.source is not None:
        return journal.source
    began = time.monotonic()
    info(f"search: making and timing the source '{job.space.source}'")
    plan = job.plan(recipe_of_source(job, ()))
    job.make(plan, job.space.source)
    shape = plan.shapes[job.space.source].finished
    kinds = [FLOAT, *(str(one.name).rpartition("-")[2] for one in quantized_copies("x", shape, _packings(job), _never))]
    if not set(kinds) & set(job.settings.copies):
        raise InputError(f"search.copies: the network cannot be stored as {job.settings.copies[0]}; add 'float'")
    wanted = [kind for kind in kinds if kind in job.settings.copies or kind == FLOAT]
    plan, layered = _with_layer(job, wanted)
    full = _variants(job, plan, job.space.source, wanted)
    one = _variants(job, plan, ONE_LAYER, wanted) if layered else []
    with job.charged(TIMING):
        found = _timed(job, full, one)
    whole = full[0]
    return journal.add_source(
        {
            "seconds": time.monotonic() - began,
            "score": whole.score,
            "other_bytes": job.others(plan),
            "kinds": wanted,
            **{key: value for key, value in to_json(whole, job.folder).items() if key not in ("format", "score")},
            **found,
        }
    )


def recipe_of_source(job: SearchJob, kinds: Sequence[str], layered: bool = False) -> Recipe:
    """The source and its copies, and the same of the source cut to one layer."""
    base = job.space.base
    source = next(stage for stage in base["stages"] if stage["name"] == job.space.source)
    stages: list[Json] = [source, *(copy_of(job.space.source, kind) for kind in kinds if kind != FLOAT)]
    if layered:
        cut = {"use": "layers", "count": 1, "choose": "spread"}
        stages.append({"name": ONE_LAYER, "start": job.space.source, "methods": [cut]})
        stages += [copy_of(ONE_LAYER, kind) for kind in kinds if kind != FLOAT]
    return parse({**base, "quantize": [], "baselines": False, "race": "short", "stages": stages})


def _packings(job: SearchJob) -> list[str]:
    return [kind for kind in job.settings.copies if kind != FLOAT]


def _never(name: str) -> bool:
    return False


def _with_layer(job: SearchJob, kinds: Sequence[str]) -> tuple[Plan, bool]:
    """The plan, and whether it has the source cut to one layer: only where times are limited and there are layers."""
    if job.settings.limits_time:
        try:
            return job.plan(recipe_of_source(job, kinds, layered=True)), True
        except InputError:  # the network has no layers to remove
            info("search: the source has no layers, so times are predicted in proportion to FLOPs")
    return job.plan(recipe_of_source(job, kinds)), False


def _variants(job: SearchJob, plan: Plan, stage: str, kinds: Sequence[str]) -> list[Variant]:
    for kind in kinds:
        job.make(plan, copy_name(stage, kind))
    with job.charged(TIMING):
        return job.variants(plan, stage, kinds)


def _timed(job: SearchJob, full: Sequence[Variant], one: Sequence[Variant]) -> Json:
    """Times of the source in its first engine, and of every variant."""
    models = {f"full {variant.label}": (variant.model, variant.engine) for variant in full}
    models |= {f"one {variant.label}": (variant.model, variant.engine) for variant in one}
    result = timing.race(models, (full[0].model, full[0].engine), job.task, job.window)
    times = timing.times_of(result)
    small = {variant.label: variant for variant in one}
    found: dict[str, Json] = {}
    for variant in full:
        found[variant.label] = {"full": times[f"full {variant.label}"], "flops": variant.flops}
        if variant.label in small:
            found[variant.label] |= {"one": times[f"one {variant.label}"], "one_flops": small[variant.label].flops}
    copies = [{**to_json(variant, job.folder), **times[f"full {variant.label}"]} for variant in full]
    return {
        "time": timing.absolute(result["contenders"][timing.REFERENCE]),
        "times": found,
        "variants": copies,
        "conditions": result["conditions"],
    }


def figures_of_source(line: Json) -> Figures:
    seconds = line["time"]["seconds_per_text"]
    own = line["time"]
    return Figures(1.0, line["bytes"], own["latency_ms"], own["p99_ms"], 1 / seconds, own["joules_per_1000"])
