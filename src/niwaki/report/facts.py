"""The facts of a run's report, computed from its files: the content of report.json without the verdict."""

from typing import Any

from niwaki.core.json_types import Json
from niwaki.report.baseline_rows import baseline_rows, without_transformer
from niwaki.report.cascade import cascade
from niwaki.report.comparisons import comparisons
from niwaki.report.conditions import conditions
from niwaki.report.curves import curve
from niwaki.report.readings import reading, spent
from niwaki.report.run_files import RunFiles, mapping, mappings, number
from niwaki.report.scores import over_seeds, over_test_sets, quality
from niwaki.report.worth import letters

SCHEMA = 1
REFERENCE = "reference"  # name in speed.json of the first stage's model as users run it today: eager, fp32
PACE = ("throughput", "throughput_low", "throughput_high", "latency_ms")
Facts = Json


def facts(run: RunFiles) -> Facts:
    """Everything that the page, the markdown and the verdict use."""
    contenders = mapping(run.speed.get("contenders"))
    planned = mappings(run.plan.get("stages"))
    stages = [_stage(stage, run, contenders) for stage in planned]
    generates = mapping(run.plan.get("task")).get("answer") == "text"  # transformers does not have these networks
    reference = _reference(stages[0], mapping(contenders.get(REFERENCE)), "torch" if generates else "transformers")
    metric, baselines = _metric(run), baseline_rows(run.baseline)
    best = max((stage["score"] for stage in stages if stage["score"] is not None), default=None)
    for stage in stages:
        stage["kept"] = ratio_of(stage["score"], best)
        contender = mapping(contenders.get(stage["name"]))
        stage["ratios"] = _ratios(stage, reference, contender)
        stage["loaded"] = _loaded(stage, reference, contender)
    return {
        "schema": SCHEMA,
        **_about(run),
        "metric": metric,
        "unfinished": _unfinished(run, stages),
        "stages": stages,
        "reference": reference,
        "baseline": _baseline(without_transformer(run.baseline)),
        "baselines": baselines,
        "baselines_not_run": [str(reason) for reason in mapping(run.baseline.get("skipped")).values()],
        "comparisons": comparisons(run.comparisons, metric, [item["name"] for item in stages + baselines]),
        "race": _race(run.speed) if run.speed else None,
        "cascade": cascade(run.cascade) if run.cascade else None,
        "spent": spent(run.ledger, [stage["name"] for stage in stages]),
        "reproduce": _reproduce(run, stages),
    }


def _race(speed: Facts) -> Facts:
    return {**{key: number(speed.get(key)) for key in ("texts", "rounds", "batch")}, **conditions(speed)}


def _loaded(stage: Facts, reference: Facts, contender: Facts) -> Facts | None:
    """The same figures in the engine that `niwaki.load` picked on the machine of the run; null if speed was not measured."""
    if not contender:
        return None
    other = mapping(contender.get("loaded"))
    if not other:
        own = {key: stage[key] for key in ("engine", "score", *PACE, "energy", "ratios")}
        return {**own, "energy": {key: stage["energy"][key] for key in ("per_1000", "label")}}
    energy = _energy(reading(None), other)
    figures = {**_pace(other), "energy": {key: energy[key] for key in ("per_1000", "label")}}
    known = {"engine": _string(other.get("engine")), "score": number(other.get("score")), **figures}
    return {**known, "ratios": _ratios({**stage, **figures}, reference, other)}


def _methods(planned: Facts, result: Facts) -> list[Facts]:
    """The methods of the stage, or those of the alternative that was chosen."""
    options = [planned, *mappings(planned.get("alternatives"))]
    chosen = mapping(result.get("choice")).get("chosen", 0)
    return mappings(options[chosen if chosen in range(len(options)) else 0].get("methods"))


def ratio_of(value: float | None, whole: float | None) -> float | None:
    """value ÷ whole; null if either is unknown, or if the share has no meaning (a metric below 0)."""
    return None if value is None or whole is None or value < 0 or whole <= 0 else value / whole


def _unfinished(run: RunFiles, stages: list[Facts]) -> list[str]:
    """Names of the stages that are not finished, and of their repeats with the seed."""
    names = [stage["name"] for stage in stages]
    again = [f"{name} (seed {seed})" for name in names for seed, one in run.repeats.get(name, {}).items() if not one]
    return [stage["name"] for stage in stages if not stage["finished"]] + again


def _about(run: RunFiles) -> Facts:
    plan = run.plan
    return {
        "name": _string(plan.get("name")),
        "created": _string(plan.get("created")),
        "niwaki": _string(plan.get("niwaki")),
        "seed": plan.get("seed"),
        "model": _string(plan.get("model")),
        "task": _task(run),
    }


def _task(run: RunFiles) -> Facts:
    task = mapping(run.plan.get("task"))
    labels = task.get("labels")
    return {
        **{key: _string(task.get(key)) for key in ("name", "metric", "description", "answer", "caveat")},
        "rows": mapping(task.get("rows")),
        "labels": [str(label) for label in labels] if isinstance(labels, list) else [],
    }


def _metric(run: RunFiles) -> str | None:
    metrics = [_string(mapping(result.get("score")).get("metric")) for result in run.results.values()]
    return next((metric for metric in metrics if metric), _task(run)["metric"])


def _string(value: object) -> str | None:
    return None if value is None else str(value)


def _stage(planned: Facts, run: RunFiles, contenders: Facts) -> Facts:
    name = str(planned.get("name"))
    result = run.results.get(name, {})
    seeded = _seeded(planned, run, result)
    return {
        "name": name,
        "finished": bool(result),
        "key": _string(planned.get("key")),
        "folder": _string(planned.get("folder")),
        "parent": _string(planned.get("parent")),
        "copy_of": _string(planned.get("copy_of")),
        "teachers": [str(name) for name in planned.get("teachers") or []],
        "methods": _methods(planned, result),
        "reduces": [str(name) for name in planned.get("reduces") or []],
        "engine": _string(result.get("engine")),
        "versions": {str(name): str(version) for name, version in mapping(result.get("versions")).items()},
        **over_seeds({seed: one.get("score") for seed, one in seeded.items()}),
        "parts": (parts := {part: _part(part, seeded) for part in mapping(result.get("parts"))}),
        "over_test_sets": over_test_sets(parts),
        **{key: number(result.get(key)) for key in ("bytes", "parameters", "flops", "flops_tokens")},
        **_pace(mapping(contenders.get(name))),
        "memory": number(mapping(contenders.get(name)).get("memory")),
        "energy": _energy(reading(result.get("spent")), mapping(contenders.get(name))),
        "training": result.get("training") if isinstance(result.get("training"), dict) else None,
        "choice": mapping(result.get("choice")) or None,
        "curve": curve(run.curves.get(name, [])),
    }


def _seeded(planned: Facts, run: RunFiles, result: Facts) -> dict[Any, Facts]:
    """The results of a stage by seed, the first seed first; empty if that one is not finished."""
    first = {number(planned.get("seed", run.plan.get("seed"))): result}
    again = {seed: one for seed, one in run.repeats.get(str(planned.get("name")), {}).items() if one}
    return {**first, **again, **first} if result else {}


def _part(part: str, seeded: dict[Any, Facts]) -> Facts:
    """The score on a further test set."""
    scores = {seed: mapping(mapping(one.get("parts")).get(part)) for seed, one in seeded.items()}
    return {"metric": _string(next(iter(scores.values())).get("metric")), **over_seeds(scores)}


def _pace(contender: Facts) -> Facts:
    throughput, latency = mapping(contender.get("throughput")), mapping(contender.get("latency_ms"))
    return {
        "throughput": number(throughput.get("value")),
        "throughput_low": number(throughput.get("low")),
        "throughput_high": number(throughput.get("high")),
        "latency_ms": {key: number(latency.get(key)) for key in ("p50", "p95", "p99")},
    }


def _energy(making: Facts, contender: Facts) -> Facts:
    per_1000 = reading(contender.get("energy_per_1000"))
    return {"making": making, "per_1000": per_1000, "label": letters(per_1000)}


def _reference(first: Facts, contender: Facts, engine: str) -> Facts:
    """The figures of the first stage's model as users run it today; missing ones are those of the stage."""
    own = {**quality(contender.get("score")), "seeds": None}
    scored = own if own["score"] is not None else {key: first[key] for key in own}
    sizes = {
        key: first[key] if number(contender.get(key)) is None else number(contender.get(key))
        for key in ("bytes", "parameters", "flops", "flops_tokens")
    }
    return {
        "name": REFERENCE,
        "stage": first["name"],
        "engine": engine,
        **scored,
        **sizes,
        **_pace(contender),
        "energy": _energy(first["energy"]["making"], contender),
    }


def _ratios(stage: Facts, reference: Facts, contender: Facts) -> Facts:
    """How many times better than the reference: above 1 is smaller, faster, less."""
    raced, energy = mapping(contender.get("ratio")), mapping(contender.get("energy_ratio"))
    return {
        "score": ratio_of(stage["score"], reference["score"]),
        **{key: ratio_of(reference[key], stage[key]) for key in ("bytes", "parameters", "flops")},
        "throughput": number(raced.get("value")) or ratio_of(stage["throughput"], reference["throughput"]),
        "throughput_low": number(raced.get("low")),
        "throughput_high": number(raced.get("high")),
        "latency": ratio_of(reference["latency_ms"]["p50"], stage["latency_ms"]["p50"]),
        "energy": number(energy.get("value"))
        or ratio_of(reference["energy"]["per_1000"]["joules"], stage["energy"]["per_1000"]["joules"]),
        "energy_low": number(energy.get("low")),
        "energy_high": number(energy.get("high")),
    }


def _baseline(baseline: Facts) -> Facts | None:
    if not baseline:
        return None
    return {
        "name": _string(baseline.get("name")) or "baseline",
        **quality(baseline.get("score")),
        "bytes": number(baseline.get("bytes")),
        **_pace(baseline),
        "energy": _energy(reading(baseline.get("spent")), baseline),
    }


def _versions(run: RunFiles, stages: list[Facts]) -> Facts:
    """The package versions recorded with the stages, or those of the last run."""
    recorded = {stage["name"]: stage["versions"] for stage in stages if stage["versions"]}
    first = next(iter(recorded.values()), mapping(run.plan.get("versions")))
    others = {
        name: {package: version for package, version in one.items() if first.get(package) != version}
        for name, one in recorded.items()
    }
    return {"versions": first, "other_versions": {name: changed for name, changed in others.items() if changed}}


def _reproduce(run: RunFiles, stages: list[Facts]) -> Facts:
    return {
        "recipe": run.recipe,
        **_versions(run, stages),
        "hardware": mapping(run.plan.get("hardware")),
        "place": _place(run),
        "seed": run.plan.get("seed"),
        "commands": ["niwaki run recipe.toml", "niwaki report ."],
    }


def _place(run: RunFiles) -> str | None:
    """Where the electricity of the last charge came from; None if no place was set."""
    details = [mapping(mapping(line.get("reading")).get("detail")) for line in run.ledger]
    places = [_string(mapping(detail.get("grid")).get("place")) for detail in details]
    return next((place for place in reversed(places) if place), None)
