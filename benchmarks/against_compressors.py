"""Quantizes the same fine-tuned model with ONNX Runtime, NNCF, torchao and niwaki: `python benchmarks/against_compressors.py [--seeds 0 1 2]`.

Teachers come from benchmarks/demo.py (run it first) and are evaluated on the test rows of Rotten Tomatoes. Each tool runs as documented,
in its own environment in runs/, on the same token ids. Sizes count weights and graph, without tokenizer and config. If a tool fails,
its error is recorded. Appends to results/compressors.jsonl.
"""

import argparse
import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from distil import teacher_of
from jobs import make
from records import append, circumstances

from niwaki.engines.predictor import Predictor
from niwaki.evaluate.quality import difference, quality
from niwaki.models.model import load_folder
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import quiet_libraries
from niwaki.tasks.rotten_tomatoes import RottenTomatoes
from niwaki.train.collator import encode_split

HOME = Path("runs/compressors")
CHILD = Path(__file__).parent / "against_compressors_child.py"
PACKAGES = {
    "onnxruntime": ["onnxruntime", "onnx", "sympy"],
    "nncf": ["nncf", "openvino", "onnx"],
    "torchao": ["torchao"],
}
PEERS = {
    "onnxruntime-int8": "onnxruntime",
    "nncf-int8": "nncf",
    "torchao-int8": "torchao",
    "torchao-int8-weights": "torchao",
    "torchao-int4-weights": "torchao",
    "torchao-intx4-weights": "torchao",
}
OURS = {
    "int8": {"use": "int8"},
    "int8-matrices": {"use": "int8", "embeddings": False},
    "static": {"use": "static"},
    "rtn-4": {"use": "rtn", "bits": 4},
    "gptq-4": {"use": "gptq", "bits": 4},
}
WEIGHED = ("model.safetensors", "model.onnx")


def environment(name: str) -> Path:
    """Python of an environment with the tool and this environment's torch and transformers."""
    folder = HOME / f"env-{name}"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        plain = ["--no-deps"] if name == "torchao" else []  # keeps the installed torch
        subprocess.run([python, "-m", "pip", "install", "-q", *plain, *PACKAGES[name]], check=True)
        site = next(folder.glob("lib/python*/site-packages"))
        (site / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python


def plan_of(name: str, seed: int) -> Plan:
    stages = [{"name": "teacher"}, {"name": name, "methods": [OURS[name]]}]
    model = str(teacher_of("half", "rotten_tomatoes", seed))
    return make_plan(
        parse({"model": model, "task": "rotten_tomatoes", "seed": seed, "quantize": [], "stages": stages}), name
    )


def ours(name: str, seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Per-example statistics of the test rows, and bytes. `teacher` is the fp32 model."""
    plan, folder = plan_of("int8" if name == "teacher" else name, seed), HOME / f"seed-{seed}"
    make(plan, folder)
    stage_folder = folder / plan.stages[0 if name == "teacher" else 1].folder
    size = sum((stage_folder / "model" / one).stat().st_size for one in WEIGHED)
    return np.load(stage_folder / "example_stats.npy", allow_pickle=False), {"bytes": size}


def theirs(name: str, seed: int) -> tuple[np.ndarray | None, dict[str, Any]]:
    """As `ours`; None if the tool failed."""
    folder = HOME / f"seed-{seed}" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    teacher, task = teacher_of("half", "rotten_tomatoes", seed), RottenTomatoes()
    tell_rows(teacher, task, folder / "rows.npz")
    request = {"peer": name, "model": str(teacher), "rows": str(folder / "rows.npz"), "made": str(folder)}
    done = subprocess.run(
        [environment(PEERS[name]), CHILD, json.dumps(request)], check=True, stdout=subprocess.PIPE, text=True
    )
    results = json.loads(done.stdout.splitlines()[-1])
    if "refused" in results:
        return None, results
    predictor, test = Predictor(teacher), task.splits()["test"]
    inputs = task.inputs(test)
    logits = np.load(folder / "logits.npy", allow_pickle=False)
    values = predictor.answer_type.values(logits, predictor.tokenize(inputs), inputs, predictor.labels)
    return task.scorer.example_stats(values, test), results


def tell_rows(teacher: Path, task: RottenTomatoes, path: Path) -> None:
    """Token ids of the training rows, for calibration, and of the test rows."""
    model, found = load_folder(teacher), {}
    for part in ("train", "test"):
        ids = encode_split(model, task, part).rows.ids
        found |= {part: ids.values, f"{part}_starts": ids.starts}
    np.savez(path, **found)


def compare(seed: int) -> dict[str, Any]:
    task = RottenTomatoes()
    makers: dict[str, Callable[[str, int], Any]] = {
        "teacher": ours,
        **dict.fromkeys(OURS, ours),
        **dict.fromkeys(PEERS, theirs),
    }
    found = {name: maker(name, seed) for name, maker in makers.items()}
    results: dict[str, Any] = {}
    for name, (example_stats, more) in found.items():
        results[name] = more
        if example_stats is not None:
            results[name] |= {
                "score": quality(task, example_stats, seed),
                "over_teacher": difference(task, [example_stats], [found["teacher"][0]]),
            }
            pairs = {
                other: difference(task, [example_stats], [theirs_of])
                for other in PEERS
                if (theirs_of := found[other][0]) is not None
            }
            results[name]["over"] = pairs if name in OURS else {}
    return {"seed": seed, "metric": task.metric, "contenders": results}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    given = parser.parse_args()
    quiet_libraries()
    for number in given.seeds:
        result = compare(number)
        sys.stderr.write(
            f"seed {number}: { {name: (one['bytes'], one['score']['value']) if 'score' in one else one for name, one in result['contenders'].items()} }\n"
        )
        append("compressors", {**result, **circumstances()})
