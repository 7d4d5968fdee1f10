"""Installs a wheel without extras in a new virtual environment and checks what must work there.

    python tools/check_install.py WHEEL MODEL... [--python python3.13]

A MODEL is the folder of an exported model. Prints one JSON line with the measured size and import time; exits with 1 at the
first failure.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

MAX_MEGABYTES, MAX_IMPORT_SECONDS = 250, 0.3
TRAINING = ("torch", "transformers", "onnx", "pyarrow", "scipy", "sklearn")
IMPORT_TIME = "import time; start = time.perf_counter(); import niwaki; print(time.perf_counter() - start)"
PREDICT = """
import importlib.util, json
import niwaki
assert "site-packages" in niwaki.__file__, niwaki.__file__
assert not [name for name in {training} if importlib.util.find_spec(name)]
from pathlib import Path
from niwaki.engines.engine_choice import usable_engines
engines = ["auto", *usable_engines(Path({model!r}))]
predictions = {{engine: niwaki.load({model!r}, engine).predict(["a lovely film", "a dull plot"]) for engine in engines}}
print(json.dumps({{engine: [answer.probability for answer in found] for engine, found in predictions.items()}}))
"""
# verbs that need an extra, with arguments that get as far as that
NEED_TRAINING = (
    ["run"],
    ["check", "rotten_tomatoes"],
    ["eval", "{model}"],
    ["export", "{model}", "--out", "exported"],
    ["tokenizer", "rows.csv"],
    ["show", "rtn"],
)


class Environment:
    """A virtual environment in a folder of its own, where all commands run."""

    def __init__(self, folder: Path, python: str) -> None:
        self.folder = folder
        self.bin = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)

    def run(self, program: str, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([self.bin / program, *words], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"{program} {' '.join(words)[:200]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def megabytes(self) -> float:
        files = (path for path in (self.folder / "venv").rglob("*") if path.is_file() and not path.is_symlink())
        return sum(path.stat().st_size for path in files) / 1e6


def check_prediction(place: Environment, model: str) -> dict[str, list[float]]:
    """The probabilities of two answers by every engine that can run the model."""
    found = json.loads(place.run("python", "-c", PREDICT.format(training=TRAINING, model=model)).stdout)
    (place.folder / "rows.csv").write_text("id,text\n1,a lovely film\n2,a dull plot\n")
    (place.folder / "rows.jsonl").write_text('{"text": "a lovely film"}\n{"text": "a dull plot"}\n')
    for rows in ("rows.csv", "rows.jsonl"):
        out = place.folder / f"{rows}.out"
        place.run("niwaki", "predict", model, "--in", rows, "--out", out.name, "--force", "--quiet")
        if len(out.read_text(encoding="utf-8").splitlines()) != 2:
            sys.exit(f"{model}: predict --in {rows} wrote another number of answers")
    place.run("niwaki", "show", model)
    return found


def check_messages(place: Environment, model: str) -> None:
    """Verbs that need an extra say so in one line."""
    for words in NEED_TRAINING:
        line = place.run("niwaki", *(word.format(model=model) for word in words), code=1).stderr
        if line.count("\n") != 1 or "niwaki[train]" not in line:
            sys.exit(f"niwaki {' '.join(words)}: {line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Environment(Path(folder), given.python)
        place.run("python", "-m", "pip", "install", "--quiet", str(given.wheel.resolve()))
        for words in (
            ["--help"],
            ["--version"],
            ["list"],
            ["list", "methods"],
            ["doctor"],
            ["show", "finetune"],
        ):
            place.run("niwaki", *words)
        models = [str(model.resolve()) for model in given.models]
        found = {
            "python": place.run("python", "-c", "import platform; print(platform.python_version())").stdout.strip(),
            "megabytes": round(place.megabytes(), 1),
            "import_seconds": round(min(float(place.run("python", "-c", IMPORT_TIME).stdout) for _ in range(5)), 3),
            "predictions": {
                model.name: check_prediction(place, path) for model, path in zip(given.models, models, strict=True)
            },
        }
        check_messages(place, models[0])
    print(json.dumps(found))
    if found["megabytes"] > MAX_MEGABYTES or found["import_seconds"] > MAX_IMPORT_SECONDS:
        sys.exit(f"over the limit: {MAX_MEGABYTES} MB, {MAX_IMPORT_SECONDS} s")


if __name__ == "__main__":
    main()
