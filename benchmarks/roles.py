"""Semantic roles on PropBank's English Web Treebank: `python benchmarks/roles.py DATA [names …]`.

DATA is a folder of tasks (docs/tasks.md) with propbank_ewt in it. MiniLM is fine-tuned, and students of a quarter of its bytes are
made with and without it. Appends a record of each to results/roles.jsonl; runs lie in runs/roles.
"""

from pathlib import Path
from typing import Any

import jobs
from jobs import both

from niwaki.core.files import read_json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

FOLDER = Path("runs") / "roles"
TEACHER = {"name": "teacher", "methods": [{"use": "freeze"}], "train": {"epochs": 1.5, "lr": 3e-4, "batch": 16}}
JOBS: dict[str, list[dict[str, Any]]] = {"minilm": [TEACHER]}


def run(name: str, data: str) -> dict[str, Any]:
    plan = make_plan(
        parse({"model": "minilm", "task": "propbank_ewt", "data": {"path": data}, "stages": JOBS[name]}), name
    )
    jobs.make(plan, FOLDER)
    return {"name": name, **summary(plan)}


def summary(plan: Plan) -> dict[str, Any]:
    folder = both(plan, FOLDER)[1]
    result = read_json(folder / "result.json")
    return {
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "bytes": result["bytes"],
        "score": result["score"],
    }


if __name__ == "__main__":
    jobs.main(__doc__, "roles", ("name",), [(name,) for name in JOBS], run)
