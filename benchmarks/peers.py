"""Compares the speed of niwaki's engines with others on the same weights: `python benchmarks/peers.py MODEL DATA [--task sst2]`.

MODEL is the folder of a fine-tuned fp32 BERT (runs/glue-minilm-sst2/stages/teacher-…/model of benchmarks/glue.py), DATA the folder of
tasks. Other engines share one environment in runs/ with this environment's torch and transformers. Each engine runs in its own process;
they take turns lap by lap, and timings include tokenization. Appends a record to results/peers.jsonl.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path
from typing import Any

import numpy as np
from peers_child import AVX2, AVX2_LIMITS, PEERS, STUDENT
from peers_engines import THREADS
from records import append, circumstances

from niwaki import api
from niwaki.api.task_choice import choose_task
from niwaki.core.errors import InputError
from niwaki.engines.cascade import is_cascade
from niwaki.evaluate.bench import texts_of
from niwaki.evaluate.quality import quality
from niwaki.meter.compare import round_order

HOME = Path("runs/peers")
PACKAGES = ["openvino", "nncf", "ctranslate2"]
CHILD = Path(__file__).parent / "peers_child.py"
REFERENCE = "transformers eager fp32"
ROUNDS, SINGLES = 6, 250  # enough that the first request of a lap, after a pause, does not affect the percentiles
PAUSE = 0.3  # seconds before a lap, because threads of the previous engine keep spinning for a while
LONGEST = 128  # maximum tokens of a row
ROWS = 256  # rows per lap


def environment() -> Path:
    """Python of an environment with the other engines and this environment's torch, transformers and onnxruntime."""
    python = HOME / "env" / "bin" / "python"
    if not python.exists():
        venv.create(HOME / "env", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "--no-deps", "torchao"], check=True
        )  # keeps the installed torch
        site = next((HOME / "env").glob("lib/python*/site-packages"))
        (site / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python.absolute()


class Contender:
    def __init__(self, name: str, model: Path, work: Path) -> None:
        python = sys.executable if name.startswith("niwaki") else str(environment())
        log = (work / f"{name.replace(' ', '-').replace('/', '-')}.log").open("w")
        self.name = name
        surroundings = {**os.environ, "TOKENIZERS_PARALLELISM": "true", **(AVX2_LIMITS if name.endswith(AVX2) else {})}
        self.process = subprocess.Popen(
            [python, str(CHILD), name, str(model), str(work)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=surroundings,
        )
        self.fault = self.read().get("fault")
        print(name, self.fault or "is ready", flush=True)

    def read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line else {"fault": f"ended with code {self.process.wait()}"}

    def request(self, **values: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(values) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self.read()


def streams(texts: list[str]) -> dict[str, tuple[list[str], int]]:
    """Texts and their maximum tokens: the task's rows unsorted and sorted by length, and texts of 128 and 384 tokens."""
    return {
        "arrival": (texts[:ROWS], LONGEST),
        "sorted": (sorted(texts[:ROWS], key=len), LONGEST),
        "128": (texts_of("128", 96), 128),
        "384": (texts_of("384", 32), 384),
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data")
    parser.add_argument("--task", default="sst2")
    parser.add_argument("--only", nargs="*", default=[], help="names of peers")
    parser.add_argument(
        "--students",
        nargs="*",
        default=[],
        metavar="NAME=FOLDER",
        help="other models for the task, exported in 8 bits, or as they are where NAME ends in -float; or a cascade",
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    work = HOME / given.model.parent.name
    work.mkdir(parents=True, exist_ok=True)
    task = choose_task(given.task, given.data, [])
    if not (work / "calibration.json").exists():
        (work / "calibration.json").write_text(json.dumps(list(task.inputs(task.splits()["train"].slice(0, 300)))))
    students = dict(pair.split("=", 1) for pair in given.students)
    exported = export_all(given, work, students)
    wanted = [name for name in PEERS if not given.only or name in given.only or name == REFERENCE]
    started = [Contender(name, given.model, work) for name in (*wanted, *(f"{STUDENT}{name}" for name in students))]
    running = [one for one in started if not one.fault]
    texts = list(task.inputs(task.splits()["test"]))
    contenders: dict[str, Any] = {
        one.name: {"score": scored(one, task, texts), "streams": {}} for one in running
    }  # also warms up
    for stream, (chosen, tokens) in streams(texts).items():
        for name, found in raced(running, chosen, tokens, given.rounds).items():
            contenders[name]["streams"][stream] = found
            print(stream, name, f"{np.median(found['per_second']):.0f}/s", f"{found['ratio']:.2f} x", flush=True)
    for name, found in single_requests(running, texts, given.rounds).items():
        contenders[name]["latency_ms"] = found
        print("single", name, found, flush=True)
    for one in running:
        one.process.kill()
    faults = {one.name: one.fault for one in started if one.fault}
    append(
        "peers",
        {
            "model": work.name,
            "shape": shape(given.model),
            "task": given.task,
            "threads": THREADS,
            "rounds": given.rounds,
            "texts": len(texts),
            "students": {name: Path(folder).name for name, folder in students.items()},
            "contenders": contenders,
            "faults": faults,
            "exported": exported,
            **circumstances(),
        },
    )


def shape(model: Path) -> list[int]:
    """Layers and hidden size."""
    config = json.loads((model / "config.json").read_text())
    return [config["num_hidden_layers"], config["hidden_size"]]


def export_all(given: argparse.Namespace, work: Path, students: dict[str, str]) -> dict[str, Any]:
    """Exports the models, reusing existing folders; returns the results of the quality checks."""
    wanted = {"exported": (given.model, "int8"), "exported-float": (given.model, "float")}
    for name, folder in students.items():
        wanted[f"students/{name}"] = (Path(folder), "float" if name.endswith("-float") else "int8")
    rows = {"task": given.task, "data": given.data, "tolerance": 0.05}
    exports = {}
    for name, (folder, precision) in wanted.items():
        if (work / name).exists():
            continue
        if is_cascade(folder):
            shutil.copytree(folder, work / name)
            continue
        try:
            exports[name] = api.export(folder, "native", work / name, precision=precision, **rows)
        except InputError:  # networks without attention run in ONNX Runtime
            exports[name] = api.export(folder, "onnx", work / name, precision=precision, **rows)
    return exports


def scored(one: Contender, task: Any, texts: list[str]) -> float:
    table = task.splits()["test"]
    labels = one.request(texts=texts, tokens=LONGEST)["labels"]
    return float(quality(task, task.scorer.example_stats([task.labels[label] for label in labels], table))["value"])


def raced(running: list[Contender], texts: list[str], tokens: int, rounds: int) -> dict[str, dict[str, Any]]:
    laps: dict[str, list[float]] = {one.name: [] for one in running}
    for one in running:
        one.request(texts=texts[:64], tokens=tokens)
    for number in range(rounds):
        for which in round_order(number, rounds, len(running)):
            time.sleep(PAUSE)
            laps[running[which].name].append(running[which].request(texts=texts, tokens=tokens)["seconds"])
    ratios = {name: np.array(laps[REFERENCE]) / np.array(seconds) for name, seconds in laps.items()}
    return {
        name: {
            "per_second": [len(texts) / one for one in seconds],
            "ratio": float(np.median(ratios[name])),
            "ratios": ratios[name].tolist(),
        }
        for name, seconds in laps.items()
    }


def single_requests(running: list[Contender], texts: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Latency percentiles of single requests, in milliseconds."""
    seconds: dict[str, list[float]] = {one.name: [] for one in running}
    for number in range(rounds):
        few = [texts[place] for place in np.random.default_rng(number).integers(0, len(texts), SINGLES)]
        for which in round_order(number, rounds, len(running)):
            time.sleep(PAUSE)
            seconds[running[which].name] += running[which].request(texts=few, tokens=LONGEST, single=True)["seconds"]
    return {
        name: {f"p{part}": float(np.percentile(found, part) * 1e3) for part in (50, 95, 99)}
        for name, found in seconds.items()
    }


if __name__ == "__main__":
    main()
