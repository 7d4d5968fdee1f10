"""From the files of a run to the facts of its report: the content of report.json, without the verdict. Pure."""

from typing import Any

from niwaki.report.curves import curve
from niwaki.report.folder import Run, mapping, mappings, number
from niwaki.report.readings import reading, spent
from niwaki.report.worth import letters

SCHEMA = 1
REFERENCE = "reference"  # the race's name for the first stage's model in transformers, eager, fp32
Facts = dict[str, Any]


def facts(run: Run) -> Facts:
    """All that the page, the markdown and the verdict are made from."""
    contenders = mapping(run.speed.get("contenders"))
    planned = mappings(run.plan.get("stages"))
    stages = [_stage(stage, run, contenders) for stage in planned]
    reference = _reference(stages[0], mapping(contenders.get(REFERENCE)))
    best = max((stage["score"] for stage in stages if stage["score"] is not None), default=None)
    for stage in stages:
        stage["kept"] = over(stage["score"], best)
        stage["ratios"] = _ratios(stage, reference, mapping(contenders.get(stage["name"])))
    return {
        "schema": SCHEMA,
        **_about(run),
        "metric": _metric(run),
        "unfinished": [stage["name"] for stage in stages if not stage["finished"]],
        "stages": stages,
        "reference": reference,
        "baseline": _baseline(run.baseline),
        "race": {key: number(run.speed.get(key)) for key in ("texts", "rounds", "batch")} if run.speed else None,
        "spent": spent(run.ledger, [stage["name"] for stage in stages]),
        "reproduce": _reproduce(run, stages),
    }


def over(value: float | None, whole: float | None) -> float | None:
    """value ÷ whole; null where either is unknown or the share would have no meaning (a metric at or below 0)."""
    return value / whole if value is not None and whole is not None and whole > 0 else None


def _about(run: Run) -> Facts:
    plan = run.plan
    return {
        "name": _string(plan.get("name")),
        "created": _string(plan.get("created")),
        "niwaki": _string(plan.get("niwaki")),
        "seed": plan.get("seed"),
        "model": _string(plan.get("model")),
        "task": _task(run),
    }


def _task(run: Run) -> Facts:
    task = mapping(run.plan.get("task"))
    labels = task.get("labels")
    return {
        **{key: _string(task.get(key)) for key in ("name", "metric", "description")},
        "rows": mapping(task.get("rows")),
        "labels": [str(label) for label in labels] if isinstance(labels, list) else [],
    }


def _metric(run: Run) -> str | None:
    said = [_string(mapping(result.get("score")).get("metric")) for result in run.results.values()]
    return next((metric for metric in said if metric), _task(run)["metric"])


def _string(value: Any) -> str | None:
    return None if value is None else str(value)


def _stage(planned: Facts, run: Run, contenders: Facts) -> Facts:
    name = str(planned.get("name"))
    result = run.results.get(name, {})
    return {
        "name": name,
        "finished": bool(result),
        "key": _string(planned.get("key")),
        "folder": _string(planned.get("folder")),
        "parent": _string(planned.get("parent")),
        "teacher": _string(planned.get("teacher")),
        "methods": mappings(planned.get("methods")),
        "engine": _string(result.get("engine")),
        **_quality(mapping(result.get("score"))),
        **{key: number(result.get(key)) for key in ("bytes", "parameters", "flops", "flops_tokens")},
        **_pace(mapping(contenders.get(name))),
        "energy": _energy(reading(result.get("spent")), mapping(contenders.get(name))),
        "training": result.get("training") if isinstance(result.get("training"), dict) else None,
        "curve": curve(run.curves.get(name, [])),
    }


def _quality(score: Facts) -> Facts:
    return {
        "score": number(score.get("value")),
        "score_low": number(score.get("low")),
        "score_high": number(score.get("high")),
        "score_rows": number(score.get("rows")),
        "scores": mapping(score.get("all")),
    }


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


def _reference(first: Facts, contender: Facts) -> Facts:
    """The figures of the first stage's model run as users run it today; what the race leaves out is the stage's own."""
    own_score = _quality(mapping(contender.get("score")))
    quality = own_score if own_score["score"] is not None else {key: first[key] for key in own_score}
    sizes = {
        key: first[key] if number(contender.get(key)) is None else number(contender.get(key))
        for key in ("bytes", "parameters", "flops", "flops_tokens")
    }
    return {
        "name": REFERENCE,
        "stage": first["name"],
        "engine": "transformers",
        **quality,
        **sizes,
        **_pace(contender),
        "energy": _energy(first["energy"]["making"], contender),
    }


def _ratios(stage: Facts, reference: Facts, contender: Facts) -> Facts:
    """How many times better than the reference: above 1 is smaller, faster, less."""
    raced = mapping(contender.get("ratio"))
    return {
        "score": over(stage["score"], reference["score"]),
        **{key: over(reference[key], stage[key]) for key in ("bytes", "parameters", "flops")},
        "throughput": number(raced.get("value")) or over(stage["throughput"], reference["throughput"]),
        "throughput_low": number(raced.get("low")),
        "throughput_high": number(raced.get("high")),
        "latency": over(reference["latency_ms"]["p50"], stage["latency_ms"]["p50"]),
        "energy": over(reference["energy"]["per_1000"]["joules"], stage["energy"]["per_1000"]["joules"]),
    }


def _baseline(baseline: Facts) -> Facts | None:
    if not baseline:
        return None
    return {
        "name": _string(baseline.get("name")) or "baseline",
        **_quality(mapping(baseline.get("score"))),
        "bytes": number(baseline.get("bytes")),
        **_pace(baseline),
        "energy": _energy(reading(baseline.get("spent")), baseline),
    }


def _reproduce(run: Run, stages: list[Facts]) -> Facts:
    return {
        "recipe": run.recipe,
        "versions": mapping(run.plan.get("versions")),
        "hardware": mapping(run.plan.get("hardware")),
        "seed": run.plan.get("seed"),
        "commands": ["niwaki run recipe.toml", "niwaki report ."],
    }
