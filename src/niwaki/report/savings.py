"""Measured savings of each stage against the stage it started from, and the claims of its methods."""

from niwaki.core.json_types import Json

Facts = Json
KINDS = {
    "file": "bytes",
    "memory": "memory",
    "flops": "flops",
    "time": "throughput",
}  # claim → the measured figure
SHOWN = 1.05  # a ratio below this is not called a saving


def savings(facts: Facts) -> list[Facts]:
    """A row for each stage with methods and a parent: the ratios, and a remark if a claimed saving was not measured."""
    stages = {stage["name"]: stage for stage in facts["stages"]}
    return [
        _row(stage, stages[stage["parent"]])
        for stage in facts["stages"]
        if stage["finished"] and stage["methods"] and stage["parent"] in stages
    ]


def _row(stage: Facts, parent: Facts) -> Facts:
    ratios = {kind: _smaller(kind, parent[figure], stage[figure]) for kind, figure in KINDS.items()}
    return {
        "name": stage["name"],
        "parent": parent["name"],
        "methods": [str(method.get("use")) for method in stage["methods"]],
        "claims": stage["reduces"],
        "ratios": ratios,
        "remark": remark(stage["reduces"], ratios),
    }


def _smaller(kind: str, before: float | None, after: float | None) -> float | None:
    """Above 1 is smaller, or for time faster."""
    if not before or not after:
        return None
    return after / before if kind == "time" else before / after


def remark(claims: list[str], ratios: dict[str, float | None]) -> str:
    """Names claims that were not measured, and files that are smaller without being faster."""
    paper = [kind for kind in claims if (ratio := ratios[kind]) is not None and ratio < SHOWN]
    words = [f"on paper only: {', '.join(paper)}"] if paper else []
    file, time = ratios["file"], ratios["time"]
    if file is not None and time is not None and file >= SHOWN > time and "time" not in claims:
        words.append("smaller, not faster")
    return "; ".join(words)
