"""Fine-tunes a model on GLUE, SQuAD and others, and runs the baselines: `python benchmarks/glue.py DATA [names …]`.

DATA is a folder of tasks (docs/tasks.md). Appends a record per task and model to results/glue.jsonl. Runs are stored in runs/glue-… and
reused. mpnet needs its folder: `--mpnet FOLDER`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from records import append, circumstances

from niwaki.core.files import read_json, write_json
from niwaki.core.lock import locked
from niwaki.evaluate.glue import task_score
from niwaki.meter.ledger import Ledger
from niwaki.run.comparisons import comparisons
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import locate, read
from niwaki.run.runner import inputs, once, quiet_libraries, run_baseline, run_stage

SEEDS = "[0, 1, 2]"
SETTINGS = {
    "lr": "stages.teacher.train.lr",
    "frozen": "stages.teacher.methods.freeze.layers",
    "rows": "data.rows",
    "model": "model",
    "seeds": "seeds",
}
Job = dict[str, Any]


def jobs(mpnet: str) -> dict[str, Job]:
    """Name: task, settings of the recipe `finetune`, and a note on the rows."""
    three = {"seeds": SEEDS}
    sample = "train rows are a sample of the official ones"
    found = {
        "cola": {"epochs": 5, **three},
        "wnli": {"epochs": 2, **three},
        "mrpc": {"epochs": 4, **three},
        "stsb": {"epochs": 3, **three},
        "rte": {"epochs": 4, **three},
        "sst2": {"epochs": 1},
        "qnli": {"epochs": 1, "note": f"{sample} (9,999 of 104,743)"},
        "qqp": {"epochs": 1, "rows": 10000, "note": f"{sample}, here 10,000 of them; test rows too"},
        "mnli": {"epochs": 1, "rows": 10000, "note": f"{sample}, here 10,000 of them; test rows too"},
        "squad": {
            "epochs": 1,
            "note": "no official train rows here: 38 articles of the development set train, 10 test",
        },
    }
    half = "the first six of its twelve layers frozen"
    strong = {"model": mpnet, "lr": 5e-5, "frozen": 6, "note": half}
    teachers = {
        "mpnet-mrpc": {"task": "mrpc", "epochs": 2, **strong},
        "mpnet-stsb": {"task": "stsb", "epochs": 1, **strong},
        "mpnet-sst2": {
            "task": "sst2",
            "epochs": 1,
            **strong,
            "rows": 20000,
            "note": f"20,000 of the train rows; {half}",
        },
    }
    return found | (teachers if mpnet else {})


def run(name: str, job: Job, data: str) -> dict[str, Any]:
    """Fine-tunes, runs the baselines and compares: `niwaki run finetune` without speed and report."""
    task = job.get("task", name)
    folder = Path("runs") / (f"glue-{name}" if "task" in job else f"glue-minilm-{name}")
    changes = {
        "quantize": [],
        "task": f'"{task}"',
        "data.path": json.dumps(data),
        "stages.teacher.train.epochs": job["epochs"],
    }
    changes |= {key: job[word] for word, key in SETTINGS.items() if word in job}
    recipe = read(locate("finetune"), [f"{key}={value}" for key, value in changes.items()])
    with locked(folder):
        plan, ledger = make_plan(recipe, name), Ledger(folder / "ledger.jsonl")
        (folder / "stages").mkdir(exist_ok=True)
        for one in (plan, *plan.repeats):
            run_stage(one, one.stages[0], folder, ledger, lambda: False)
        once(folder / "baseline.json", inputs(plan), lambda: run_baseline(plan, folder, ledger))
        write_json(folder / "comparisons.json", comparisons(plan, folder))
    return {"name": name, "task": task, "epochs": job["epochs"], "note": job.get("note", ""), **summary(plan, folder)}


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    results = [read_json(folder / one.stages[0].folder / "result.json") for one in (plan, *plan.repeats)]
    baseline = read_json(folder / "baseline.json")
    return {
        "model": Path(plan.recipe.model).name,
        "metric": plan.task.metric,
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "seeds": [one.recipe.seed for one in (plan, *plan.repeats)],
        "glue": [task_score(result) for result in results],
        "scores": [{name: score["value"] for name, score in result["score"]["all"].items()} for result in results],
        "parts": [{part: score["value"] for part, score in result["parts"].items()} for result in results],
        "rungs": [
            {
                "name": entry["name"],
                "kind": entry["kind"],
                "value": entry["score"]["value"],
                "seconds": entry["spent"]["seconds"],
                "note": entry["note"],
            }
            for entry in baseline["baselines"]
        ],
        "best_rung": baseline["name"],
        "pairs": read_json(folder / "comparisons.json")["pairs"],
        "spent": [
            {key: result["spent"][key] for key in ("seconds", "cpu_seconds", "joules", "tier")} for result in results
        ],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--mpnet", default="", help="folder of mpnet-base")
    given = parser.parse_args()
    known = jobs(given.mpnet)
    quiet_libraries()
    for wanted in given.names or known:
        append("glue", {**run(wanted, known[wanted], given.data), **circumstances()})
