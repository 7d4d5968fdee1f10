"""GLUE, SQuAD and more with one fine-tuned model and the ladder of baselines beside it: `python benchmarks/glue.py DATA [names …]`.

DATA is a folder of tasks (docs/tasks.md). Appends a record per task and model to results/glue.jsonl. Runs lie in runs/glue-…:
what is there already is not made again. mpnet needs its folder: `--mpnet FOLDER`.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from records import append, circumstances

from niwaki.evaluate.glue import task_score

PROGRAM = str(Path(sys.executable).with_name("niwaki"))
SEEDS = "[0, 1, 2]"
Job = dict[str, Any]


def jobs(mpnet: str) -> dict[str, Job]:
    """Name → task, settings of the recipe `finetune`, and what a reader must know of the rows."""
    three = {"seeds": SEEDS}
    sample = "train rows are a sample of the official ones"
    found = {
        "cola": {"epochs": 5, **three},
        "wnli": {"epochs": 2, **three},
        "mrpc": {"epochs": 4, **three},
        "stsb": {"epochs": 3, **three},
        "rte": {"epochs": 4, **three},
        "sst2": {"epochs": 1},
        "qnli": {"epochs": 2, "note": f"{sample} (9,999 of 104,743)"},
        "qqp": {"epochs": 1, "note": f"{sample}, test rows too"},
        "mnli": {"epochs": 1, "note": f"{sample}, test rows too"},
        "squad": {
            "epochs": 2,
            "note": "no official train rows here: 38 articles of the development set train, 10 test",
        },
    }
    half = "the first six of its twelve layers frozen"
    strong = {"model": mpnet, "lr": 5e-5, "frozen": 6, "note": half}
    teachers = {
        "mpnet-mrpc": {"task": "mrpc", "epochs": 2, **strong},
        "mpnet-stsb": {"task": "stsb", "epochs": 2, **strong},
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
    """Fine-tunes, climbs the ladder, compares; the record is what the run's files say."""
    task = job.get("task", name)
    folder = Path("runs") / (f"glue-{name}" if "task" in job else f"glue-minilm-{name}")
    changes = {"task": f'"{task}"', "data.path": json.dumps(data), "stages.teacher.train.epochs": job["epochs"]}
    changes |= {"stages.teacher.train.lr": job["lr"]} if "lr" in job else {}
    changes |= {"stages.teacher.methods.freeze.layers": job["frozen"]} if "frozen" in job else {}
    changes |= {"data.rows": job["rows"]} if "rows" in job else {}
    changes |= {"model": json.dumps(job["model"])} if "model" in job else {}
    changes |= {"seeds": job["seeds"]} if "seeds" in job else {}
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    subprocess.run([PROGRAM, "run", "finetune", *sets, "--out", str(folder)], check=True)
    return {"name": name, "task": task, "epochs": job["epochs"], "note": job.get("note", ""), **summary(folder)}


def summary(folder: Path) -> dict[str, Any]:
    plan, baseline, comparisons = (
        json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
        for part in ("plan", "baseline", "comparisons")
    )
    stages = [plan["stages"][0], *(repeat["stages"][0] for repeat in plan["repeats"])]
    results = [json.loads((folder / stage["folder"] / "result.json").read_text(encoding="utf-8")) for stage in stages]
    return {
        "model": Path(plan["model"]).name,
        "metric": plan["task"]["metric"],
        "rows": plan["task"]["rows"],
        "seeds": plan["seeds"],
        "glue": [task_score(result) for result in results],
        "scores": [{name: score["value"] for name, score in result["score"]["all"].items()} for result in results],
        "parts": [{part: score["value"] for part, score in result["parts"].items()} for result in results],
        "interval": [results[0]["score"]["low"], results[0]["score"]["high"]],
        "rungs": [{"name": rung["name"], "kind": rung["kind"], "value": rung["score"]["value"], "seconds": rung["spent"]["seconds"]} for rung in baseline["rungs"]],
        "best_rung": baseline["name"],
        "pairs": comparisons["pairs"],
        "spent": [{key: result["spent"][key] for key in ("seconds", "cpu_seconds", "joules", "tier")} for result in results],
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--mpnet", default="", help="folder of mpnet-base")
    given = parser.parse_args()
    known = jobs(given.mpnet)
    for wanted in given.names or known:
        append("glue", {**run(wanted, known[wanted], given.data), **circumstances()})
