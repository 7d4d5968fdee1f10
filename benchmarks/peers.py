"""The same weights in the engines that a user would pick, and in niwaki's: `python benchmarks/peers.py MODEL DATA [--task sst2]`.

MODEL is the folder of a fine-tuned fp32 BERT (runs/glue-minilm-sst2/stages/teacher-…/model of benchmarks/glue.py), DATA the folder of
tasks. Peers live in one environment below runs/, with torch and transformers of our own behind it. Each runs in a process of its own;
they take turns, lap by lap, one at a time, and a lap is text in to label out. Appends a record to results/peers.jsonl.
"""

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from typing import Any

import numpy as np
from peers_child import PEERS, STUDENT, THREADS
from records import append, circumstances

from niwaki import api
from niwaki.core.errors import Refused
from niwaki.evaluate.bench import texts_of
from niwaki.meter.compare import turn

HOME = Path("runs/peers")
PACKAGES = ["openvino", "nncf", "ctranslate2"]
CHILD = Path(__file__).parent / "peers_child.py"
REFERENCE = "transformers eager fp32"
ROUNDS, SINGLES = 6, 60
LONGEST = 128  # tokens of a row of the task
ROWS = 256  # of the task, in a lap


def environment() -> Path:
    """Python with the peers, and torch, transformers and onnxruntime of ours."""
    python = HOME / "env" / "bin" / "python"
    if not python.exists():
        venv.create(HOME / "env", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "torchao"], check=True)  # else a newer torch
        site = next((HOME / "env").glob("lib/python*/site-packages"))
        (site / "ours.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python.absolute()


class Contender:
    def __init__(self, name: str, model: Path, work: Path) -> None:
        python = sys.executable if name.startswith("niwaki") else str(environment())
        log = (work / f"{name.replace(' ', '-').replace('/', '-')}.log").open("w")
        self.name = name
        self.process = subprocess.Popen([python, str(CHILD), name, str(model), str(work)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, "TOKENIZERS_PARALLELISM": "true"})  # fmt: skip
        self.fault = self.read().get("fault")

    def read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()  # type: ignore[union-attr]
        return json.loads(line) if line else {"fault": f"ended with code {self.process.wait()}"}

    def ask(self, **said: Any) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(said) + "\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return self.read()


def streams(texts: list[str]) -> dict[str, tuple[list[str], int]]:
    """Texts and the tokens they are cut to: the task's rows as they come, sorted by length, and texts of 128 and 384 tokens."""
    return {
        "arrival": (texts[:ROWS], LONGEST),
        "sorted": (sorted(texts[:ROWS], key=len), LONGEST),
        "128": (texts_of("128", 96), 128),
        "384": (texts_of("384", 32), 384),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("data")
    parser.add_argument("--task", default="sst2")
    parser.add_argument("--only", nargs="*", default=[], help="names of peers")
    parser.add_argument(
        "--students", nargs="*", default=[], help="NAME=FOLDER of other models for the task, exported in 8 bits"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    model, work = Path(given.model), HOME / Path(given.model).parent.name
    work.mkdir(parents=True, exist_ok=True)
    task = api._task(given.task, given.data, [])
    table = task.splits()["test"]
    texts = list(task.inputs(table))
    if not (work / "calibration.json").exists():
        (work / "calibration.json").write_text(json.dumps(list(task.inputs(task.splits()["train"].slice(0, 300)))))
    exported = {
        name: api.export(
            model, "native", work / name, precision=precision, tolerance=0.02, task=given.task, data=given.data
        )
        for name, precision in (("exported", "int8"), ("exported-float", "float"))
        if not (work / name).exists()
    }
    students = dict(pair.split("=", 1) for pair in given.students)
    for name, folder in students.items():
        if not (work / "students" / name).exists():
            exported[name] = student(Path(folder), work / "students" / name, given)
    wanted = [name for name in PEERS if not given.only or name in given.only or name == REFERENCE]
    wanted += [f"{STUDENT}{name}" for name in students]
    contenders = []
    faults = {}
    for name in wanted:
        one = Contender(name, model, work)
        print(name, one.fault or "is ready", flush=True)
        faults |= {name: one.fault} if one.fault else {}
        contenders += [] if one.fault else [one]
    told: dict[str, Any] = {one.name: {"streams": {}} for one in contenders}
    for one in contenders:  # warm up, and the score on all rows
        labels = one.ask(texts=texts, tokens=LONGEST)["labels"]
        told[one.name]["score"] = score(task, labels, table)
        print(one.name, told[one.name]["score"], flush=True)
    for stream, (chosen, tokens) in streams(texts).items():
        laps: dict[str, list[float]] = {one.name: [] for one in contenders}
        for one in contenders:
            one.ask(texts=chosen[:64], tokens=tokens)
        for number in range(given.rounds):
            for which in turn(number, given.rounds, len(contenders)):
                laps[contenders[which].name].append(contenders[which].ask(texts=chosen, tokens=tokens)["seconds"])
        for name, seconds in laps.items():
            ratios = np.array(laps[REFERENCE]) / np.array(seconds)
            told[name]["streams"][stream] = {
                "per_second": [len(chosen) / one for one in seconds],
                "ratio": float(np.median(ratios)),
                "ratios": ratios.tolist(),
            }
            print(stream, name, f"{len(chosen) / np.median(seconds):.0f}/s", f"{np.median(ratios):.2f} x", flush=True)
    singles: dict[str, list[float]] = {one.name: [] for one in contenders}
    for number in range(given.rounds):
        few = [texts[place] for place in np.random.default_rng(number).integers(0, len(texts), SINGLES)]
        for which in turn(number, given.rounds, len(contenders)):
            singles[contenders[which].name] += contenders[which].ask(texts=few, tokens=LONGEST, single=True)["seconds"]
    for name, seconds in singles.items():
        told[name]["latency_ms"] = {f"p{part}": float(np.percentile(seconds, part) * 1e3) for part in (50, 95, 99)}
        print("single", name, told[name]["latency_ms"], flush=True)
    for one in contenders:
        one.process.kill()
    append("peers", {"model": work.name, "task": given.task, "threads": THREADS, "rounds": given.rounds, "texts": len(texts), "contenders": told, "faults": faults, "exported": exported, **circumstances()})  # fmt: skip


def student(folder: Path, out: Path, given: Any) -> dict[str, Any]:
    """In 8 bits for the native engine, or for ONNX Runtime where there is no attention."""
    rows = {"task": given.task, "data": given.data, "tolerance": 0.05}
    try:
        return api.export(folder, "native", out, precision="int8", **rows)
    except Refused:
        return api.export(folder, "onnx", out, precision="int8", **rows)


def score(task: Any, labels: list[int], table: Any) -> float:
    from niwaki.evaluate.quality import quality

    return float(quality(task, task.outcomes([task.labels[label] for label in labels], table))["value"])


if __name__ == "__main__":
    main()
