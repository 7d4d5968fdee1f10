"""The baseline ladder: what simpler things score and cost, rung by rung, up to the stage that is deployed."""

from typing import Any

from niwaki.report.comparisons import between, gap
from niwaki.report.folder import mappings, number
from niwaki.report.readings import add, reading
from niwaki.report.scores import quality

Facts = dict[str, Any]


def ladder(baseline: Facts) -> list[Facts]:
    """The rungs of baseline.json; one made before there were several is a ladder of one."""
    return [_rung(rung) for rung in mappings(baseline.get("rungs")) or ([baseline] if baseline else [])]


def _rung(rung: Facts) -> Facts:
    texts = {key: None if rung.get(key) is None else str(rung[key]) for key in ("kind", "note")}
    return {
        "name": str(rung.get("name") or "baseline"),
        **texts,
        "transformer": uses_transformer(rung),
        "validation": number(rung.get("validation")),
        **quality(rung.get("score")),
        "making": reading(rung.get("spent")),
    }


def uses_transformer(rung: Facts) -> bool:
    """A frozen encoder is a transformer too; runs made before this was written down name its kind only."""
    return bool(rung.get("transformer", rung.get("kind") == "frozen"))


def without_transformer(baseline: Facts) -> Facts:
    """The best baseline on the validation rows that runs no transformer: the only one that can show that none is needed."""
    found = [rung for rung in mappings(baseline.get("rungs")) if not uses_transformer(rung)]
    if not found:
        return {} if uses_transformer(baseline) else baseline
    chosen = max(found, key=lambda rung: number(rung.get("validation")) or 0.0)
    return {**baseline, **chosen} if chosen.get("name") != baseline.get("name") else baseline


def climb(facts: Facts) -> list[Facts]:
    """The rungs with what the best stage gains over each, by the paired interval where the two were compared."""
    best = next((stage for stage in facts["stages"] if stage["name"] == facts["verdict"]["best"]), None)
    return [{**rung, "gain": _gain(facts, best, rung) if best else None} for rung in facts["ladder"]]


def _gain(facts: Facts, best: Facts, rung: Facts) -> Facts | None:
    if rung["score"] is None:
        return None
    paired = between(facts, best["name"], rung["name"])
    return gap(facts["metric"], paired or {"difference": best["score"] - rung["score"]})


def steps(facts: Facts) -> list[Facts]:
    """The rows of the ladder's table: the rungs, then the best stage and the deployed one with all that made them."""
    several, stages = len(facts["ladder"]) > 1, {stage["name"]: stage for stage in facts["stages"]}
    chosen = facts["baseline"]["name"] if several and facts["baseline"] else None
    rungs = [{**rung, "role": _role(rung, chosen)} for rung in facts["ladder"]]
    best, deploy = facts["verdict"]["best"], facts["verdict"]["deploy"]
    roles = {best: "best stage, deployed"} if best == deploy else {best: "best stage", deploy: "deployed"}
    return rungs + [_step(facts, stages[name], role) for name, role in roles.items() if name in stages]


def _role(rung: Facts, chosen: str | None) -> str:
    if rung["transformer"]:
        return "a transformer too"
    return "best in validation" if rung["name"] == chosen else ""


def _step(facts: Facts, stage: Facts, role: str) -> Facts:
    parts = lineage(facts, stage["name"], teachers=True)
    return {
        **stage,
        "role": role,
        "making": add(part["energy"]["making"] for part in parts),
        "gain": None,
        "note": None,
    }


def lineage(facts: Facts, name: str, teachers: bool = False) -> list[Facts]:
    """The stages that a model came through, first to last; its teachers' too, where these are asked for."""
    known = {stage["name"]: stage for stage in facts["stages"]}
    chain: list[Facts] = []
    names = [name]
    while names:
        stage = known.pop(names.pop(), None)  # taken out: nothing counts twice, and a plan in a circle ends
        if stage:
            chain.insert(0, stage)
            names += [stage["parent"], *(stage["teachers"] if teachers else [])]
    return chain
