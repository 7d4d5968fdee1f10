"""Antiderivatives by a trained model next to sympy's: `python benchmarks/inverse.py RUN [--questions 100] [--seconds 10]`. Appends a record to results/inverse.jsonl.

RUN is the folder of a run of the recipe `inverse`, or of one like it. All finished stages answer the same test questions; each is verified by the task's own verifier. sympy
runs in a child process that is killed after the time limit; its answers are checked at the same points.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path
from typing import Any

import sympy
from records import append, circumstances

import niwaki
from niwaki.core.files import folder_bytes
from niwaki.core.strict_toml import load
from niwaki.data.problems._expressions import Tree, evaluated, parse
from niwaki.data.problems.integration import sample
from niwaki.meter.ledger import Ledger
from niwaki.run.recipe import parse as parse_recipe

X = sympy.Symbol("x")
NAMES = {"ln": sympy.log, **{name: getattr(sympy, name) for name in ("exp", "sin", "cos", "tan", "sqrt", "atan")}}
OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
}


def as_sympy(tree: Tree) -> sympy.Expr:
    name, *parts = tree
    if name == "x":
        return X
    if name == "int":
        return sympy.Integer(parts[0])
    inner = [as_sympy(part) for part in parts]
    return (NAMES.get(str(name)) or OPERATORS[str(name)])(*inner)


def integrate(question: str, pipe: Any) -> None:
    """In a child process: whether sympy finds an antiderivative, and whether its derivative is the question."""
    tree = parse(question.split())
    found = sympy.integrate(as_sympy(tree), X)
    if found.has(sympy.Integral):
        pipe.send("unsolved")
        return
    slope = sympy.lambdify(X, sympy.diff(found, X), "mpmath")
    differences = []
    for point in sample():
        try:
            value = evaluated(tree, point)
            differences.append(abs(complex(slope(point)) - value) / (1 + abs(value)))
        except (ArithmeticError, ValueError, TypeError):
            continue
    right = len(differences) >= 6 and max(differences) < 1e-6
    pipe.send("verified" if right else "not verified")


def by_sympy(question: str, seconds: float) -> tuple[str, float]:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=integrate, args=(question, there))
    start = time.monotonic()
    child.start()
    try:
        there.close()
        result = here.recv() if here.poll(seconds) else "out of time"
    except EOFError:
        result = "error"
    finally:
        child.kill()
        child.join()
    return result, time.monotonic() - start


def by_model(folder: Path, questions: list[str]) -> dict[str, Any]:
    model = niwaki.load(folder, engine="onnx")
    start = time.monotonic()
    answers = model.predict(questions)
    seconds = time.monotonic() - start
    ranks = [one.rank if one.verified else 0 for one in answers]
    return {
        "at_1": sum(rank == 1 for rank in ranks) / len(ranks),
        "at_k": sum(rank > 0 for rank in ranks) / len(ranks),
        "seconds_per_question": seconds / len(questions),
        "bytes": folder_bytes(folder),
    }


def cpu_seconds(folder: Path) -> dict[str, float]:
    """Of all attempts of each stage, with generating the pairs, training and scoring."""
    found = Ledger(folder / "ledger.jsonl").total("stage")
    return {name: account.reading.cpu_seconds for name, account in found.items()}


def main() -> None:
    given = argparse.ArgumentParser()
    given.add_argument("run", type=Path)
    given.add_argument("--questions", type=int, default=100)
    given.add_argument("--seconds", type=float, default=10.0)
    options = given.parse_args()
    plan = json.loads((options.run / "plan.json").read_text(encoding="utf-8"))
    finished = {one["name"]: options.run / one["folder"] for one in plan["stages"]}
    finished = {name: folder for name, folder in finished.items() if folder.is_dir()}
    recipe = parse_recipe(load(options.run / "recipe.toml"))
    questions = recipe.make_task().splits()["test"].column("text").to_pylist()[: options.questions]
    stages = {name: by_model(folder / "model", questions) for name, folder in finished.items()}
    results, times = zip(*(by_sympy(question, options.seconds) for question in questions), strict=True)
    counted = {result: results.count(result) for result in dict.fromkeys(results)}
    training = {one["name"]: one.get("train") for one in plan["stages"]}
    append(
        "inverse",
        {
            "data": recipe.data,
            "training": training,
            "cpu_seconds": cpu_seconds(options.run),
            "questions": len(questions),
            "stages": stages,
            "sympy": {
                "results": counted,
                "seconds_per_question": sum(times) / len(times),
                "limit": options.seconds,
                "version": sympy.__version__,
            },
            **circumstances(),
        },
    )


if __name__ == "__main__":
    main()
