"""Fine-tunes a model on GLUE, SQuAD and others, and runs the baselines: `python benchmarks/glue.py DATA [names …]`.

DATA is a folder of tasks (docs/tasks.md). Appends a record per task and model to results/glue.jsonl. Runs are stored in runs/glue-… and
reused, so an interrupted job continues, and `--seeds 1` first and more seeds later costs nothing. A job that has a record with as many
seeds is skipped. Jobs `strong-…` are the current settings; the others are those that they are compared with, as recorded at their
commits. mpnet needs its folder: `--mpnet FOLDER`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from jobs import spent_on
from records import append, circumstances
from records import read as read_records

from niwaki.core.files import read_json, write_json
from niwaki.core.lock import locked
from niwaki.evaluate.glue import task_score
from niwaki.meter.ledger import Ledger
from niwaki.run.comparisons import comparisons
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import locate, read
from niwaki.run.runner import inputs, once, quiet_libraries, run_baseline, run_stage

SETTINGS = {
    "epochs": "stages.teacher.train.epochs",
    "lr": "stages.teacher.train.lr",
    "frozen": "stages.teacher.methods.freeze.layers",
    "rows": "data.rows",
    "validation": "data.validation",
    "model": "model",
}
SAMPLE = "train rows are a sample of the official ones"
HALF = "the first six of its twelve layers frozen"
MNLI = "strong-mnli"  # the intermediate task
Job = dict[str, Any]


def jobs(mpnet: str) -> dict[str, Job]:
    """Name: task, settings of the recipe (`finetune`, unless another is named), and a note on the rows."""
    return strong_jobs() | earlier_jobs() | (mpnet_jobs(mpnet) if mpnet else {})


def strong_jobs() -> dict[str, Job]:
    """In the order in which they are worth their time. `start` is a job whose model is fine-tuned further."""
    similarity = {"recipe": "similarity", "note": "bi-encoder (recipe `similarity`)"}
    found: dict[str, Job] = {
        "mnli": {"epochs": 1, "lr": 1e-4, "rows": 20000, "validation": 0.02, "note": f"{SAMPLE}, here 20,000 of them"},
        "rte": {"epochs": 4, "lr": 5e-5, "start": MNLI, "seeds": 5},
        "stsb": {"epochs": 4, **similarity, "seeds": 3},
        "mrpc": {"epochs": 4, "lr": 1e-4, "start": MNLI, "seeds": 5},
        "wnli": {"recipe": "own_data", "note": "recipe `own_data`", "seeds": 5},
        "cola": {"epochs": 6, "lr": 1e-4, "seeds": 3},
        "qnli": {"epochs": 2, "lr": 5e-5, "start": MNLI, "note": f"{SAMPLE} (9,999 of 104,743)", "seeds": 3},
        "sst2": {"epochs": 1, "lr": 1e-4, "seeds": 3},
        "sst2-1000": {
            "task": "sst2",
            "recipe": "own_data",
            "rows": 1000,
            "note": "recipe `own_data`, 1,000 train rows",
            "seeds": 3,
        },
        "qqp": {
            "epochs": 1,
            "lr": 5e-5,
            "rows": 10000,
            "start": MNLI,
            "note": f"{SAMPLE}, here 10,000 of them; test rows too",
        },
    }
    return {f"strong-{name}": {"task": name, **job} for name, job in found.items()}


def earlier_jobs() -> dict[str, Job]:
    three = {"seeds": 3}
    found: dict[str, Job] = {
        "cola": {"epochs": 5, **three},
        "wnli": {"epochs": 2, **three},
        "mrpc": {"epochs": 4, **three},
        "stsb": {"epochs": 3, **three},
        "rte": {"epochs": 4, **three},
        "sst2": {"epochs": 1},
        "qnli": {"epochs": 1, "note": f"{SAMPLE} (9,999 of 104,743)"},
        "qqp": {"epochs": 1, "rows": 10000, "note": f"{SAMPLE}, here 10,000 of them; test rows too"},
        "mnli": {"epochs": 1, "rows": 10000, "note": f"{SAMPLE}, here 10,000 of them; test rows too"},
        "squad": {
            "epochs": 1,
            "note": "no official train rows here: 38 articles of the development set train, 10 test",
        },
    }
    return {name: {"task": name, **job} for name, job in found.items()}


def mpnet_jobs(mpnet: str) -> dict[str, Job]:
    half = {"model": mpnet, "lr": 5e-5, "frozen": 6, "note": HALF}
    rows = f"20,000 of the train rows; {HALF}"
    whole = {"model": mpnet, "lr": 3e-5, "seeds": 3}
    mnli = {"task": "mnli", "rows": 20000, "validation": 0.02, "note": f"{SAMPLE}, here 20,000 of them"}
    start = {"start": "mpnet-strong-mnli"}
    return {
        "mpnet-mrpc": {"task": "mrpc", "epochs": 2, **half},
        "mpnet-stsb": {"task": "stsb", "epochs": 1, **half},
        "mpnet-sst2": {"task": "sst2", "epochs": 1, **half, "rows": 20000, "note": rows},
        "mpnet-strong-stsb": {"task": "stsb", "epochs": 4, "recipe": "similarity", **whole},
        "mpnet-strong-mnli": {"epochs": 1, **whole, **mnli, "seeds": 1},
        "mpnet-strong-rte": {"task": "rte", "epochs": 4, **whole, **start, "seeds": 5},
        "mpnet-strong-mrpc": {"task": "mrpc", "epochs": 4, **whole, **start, "seeds": 5},
        "mpnet-strong-sst2": {"task": "sst2", "epochs": 1, **whole},
    }


def run(name: str, job: Job, data: str, seeds: int) -> dict[str, Any]:
    """Fine-tunes, runs the baselines and compares: `niwaki run finetune` without speed and report."""
    folder, task = run_folder(name), job["task"]
    changes = {"quantize": [], "task": f'"{task}"', "data.path": json.dumps(data), "seeds": list(range(seeds))}
    changes |= {key: job[word] for word, key in SETTINGS.items() if word in job}
    if "start" in job:
        changes["stages.teacher.model"] = json.dumps(str(finished_model(job["start"])))
    recipe = read(locate(job.get("recipe", "finetune")), [f"{key}={value}" for key, value in changes.items()])
    recipe = recipe.model_copy(update={"stages": recipe.stages[:1]})  # of recipe own_data: the teacher
    with locked(folder):
        plan, ledger = make_plan(recipe, name), Ledger(folder / "ledger.jsonl")
        (folder / "stages").mkdir(exist_ok=True)
        for one in (plan, *plan.repeats):
            run_stage(one, one.stages[0], folder, ledger, lambda: False)
        once(folder / "baseline.json", inputs(plan), lambda: run_baseline(plan, folder, ledger))
        write_json(folder / "comparisons.json", comparisons(plan, folder))
    settings = {
        "epochs": job.get("epochs"),
        "start": job.get("start", ""),
        "methods": plan.stages[0].to_json()["methods"],
    }
    return {"name": name, "task": task, **settings, "note": job.get("note", ""), **summary(plan, folder)}


def run_folder(name: str) -> Path:
    return Path("runs") / (f"glue-{name}" if "-" in name else f"glue-minilm-{name}")


def finished_model(name: str) -> Path:
    """The model of another job, which must have run."""
    found = sorted((run_folder(name) / "stages").glob("teacher-*/model"))
    if len(found) != 1:
        raise SystemExit(f"{run_folder(name)}: holds {len(found)} finished models; run job '{name}' first")
    return found[0]


def has_record(name: str, seeds: int) -> bool:
    return any(row["name"] == name and len(row["seeds"]) >= seeds for row in read_records("glue"))


def summary(plan: Plan, folder: Path) -> dict[str, Any]:
    results = [read_json(folder / one.stages[0].folder / "result.json") for one in (plan, *plan.repeats)]
    baseline = read_json(folder / "baseline.json")
    return {
        "model": Path(plan.recipe.model).name,
        "metric": plan.task.metric,
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "train": plan.stages[0].to_json()["train"],
        "training": [result["training"] for result in results],
        "seeds": [one.recipe.seed for one in (plan, *plan.repeats)],
        "glue": [task_score(result) for result in results],
        "scores": [{name: score["value"] for name, score in result["score"]["all"].items()} for result in results],
        "parts": [{part: score["value"] for part, score in result["parts"].items()} for result in results],
        "baselines": [
            {
                "name": entry["name"],
                "kind": entry["kind"],
                "value": entry["score"]["value"],
                "seconds": entry["spent"]["seconds"],
                "note": entry["note"],
            }
            for entry in baseline["baselines"]
        ],
        "best_baseline": baseline["name"],
        "pairs": read_json(folder / "comparisons.json")["pairs"],
        "spent": [spent_on(one.stages[0], folder) for one in (plan, *plan.repeats)],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--mpnet", default="", help="folder of mpnet-base")
    parser.add_argument("--seeds", type=int, default=0, help="fewer seeds than the job has")
    parser.add_argument("--list", action="store_true", help="list the jobs")
    given = parser.parse_args()
    known = jobs(given.mpnet)
    quiet_libraries()
    for wanted in given.names or known:
        most = known[wanted].get("seeds", 1)
        seeds = min(given.seeds or most, most)
        if given.list:
            print(wanted, seeds)
        elif not has_record(wanted, seeds):
            append("glue", {**run(wanted, known[wanted], given.data, seeds), **circumstances()})
