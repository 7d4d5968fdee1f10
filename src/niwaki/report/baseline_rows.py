"""The table of baselines: their scores and costs, then the best and the deployed stage."""

from niwaki.core.json_types import Json
from niwaki.report.comparisons import find_comparison, gap
from niwaki.report.readings import add, reading
from niwaki.report.run_files import mappings, number
from niwaki.report.scores import quality

Facts = Json


def baseline_rows(baseline: Facts) -> list[Facts]:
    """The baselines of baseline.json; older files have a single one."""
    return [_baseline_row(entry) for entry in mappings(baseline.get("baselines")) or ([baseline] if baseline else [])]


def _baseline_row(entry: Facts) -> Facts:
    texts = {key: None if entry.get(key) is None else str(entry[key]) for key in ("kind", "note")}
    return {
        "name": str(entry.get("name") or "baseline"),
        **texts,
        "transformer": uses_transformer(entry),
        "validation": number(entry.get("validation")),
        **quality(entry.get("score")),
        "making": reading(entry.get("spent")),
    }


def uses_transformer(entry: Facts) -> bool:
    """A frozen encoder is a transformer too; older runs only have its kind."""
    return bool(entry.get("transformer", entry.get("kind") == "frozen"))


def without_transformer(baseline: Facts) -> Facts:
    """The best baseline on the validation rows without a transformer: only such a one can show that none is needed."""
    found = [entry for entry in mappings(baseline.get("baselines")) if not uses_transformer(entry)]
    if not found:
        return {} if uses_transformer(baseline) else baseline
    chosen = max(found, key=lambda entry: number(entry.get("validation")) or 0.0)
    return {**baseline, **chosen} if chosen.get("name") != baseline.get("name") else baseline


def with_gains(facts: Facts) -> list[Facts]:
    """The baselines with the gain of the best stage over each, with the paired interval if they were compared."""
    best = next((stage for stage in facts["stages"] if stage["name"] == facts["verdict"]["best"]), None)
    return [{**entry, "gain": _gain(facts, best, entry) if best else None} for entry in facts["baselines"]]


def _gain(facts: Facts, best: Facts, entry: Facts) -> Facts | None:
    if entry["score"] is None:
        return None
    paired = find_comparison(facts, best["name"], entry["name"])
    return gap(facts["metric"], paired or {"difference": best["score"] - entry["score"]})


def baseline_table(facts: Facts) -> list[Facts]:
    """The rows of the table: the baselines, then the best and the deployed stage with the cost of all stages before them."""
    several, stages = len(facts["baselines"]) > 1, {stage["name"]: stage for stage in facts["stages"]}
    chosen = facts["baseline"]["name"] if several and facts["baseline"] else None
    baselines = [{**entry, "role": _role(entry, chosen)} for entry in facts["baselines"]]
    best, deploy = facts["verdict"]["best"], facts["verdict"]["deploy"]
    roles = {best: "best stage, deployed"} if best == deploy else {best: "best stage", deploy: "deployed"}
    return baselines + [_step(facts, stages[name], role) for name, role in roles.items() if name in stages]


def _role(entry: Facts, chosen: str | None) -> str:
    if entry["transformer"]:
        return "a transformer too"
    return "best in validation" if entry["name"] == chosen else ""


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
    """The stages that a model came through, first to last; with `teachers` also those of its teachers."""
    known = {stage["name"]: stage for stage in facts["stages"]}
    chain: list[Facts] = []
    names = [name]
    while names:
        stage = known.pop(names.pop(), None)  # removed, so that nothing counts twice and a cyclic plan ends
        if stage:
            chain.insert(0, stage)
            names += [stage["parent"], *(stage["teachers"] if teachers else [])]
    return chain
