"""Options that make pretraining cheaper, at equal time on the same text: `python benchmarks/pretraining_options.py DATA --text TEXT
[--minutes 30] [names …]`. Keep the machine quiet.

TEXT and DATA as for pretraining.py. Each option of `TABLE` changes one thing of masked language modeling and trains for so many minutes; then bits
per byte, which do not depend on the tokenizer, BLiMP and GLUE after fine-tuning are measured. Appends to results/pretraining_options.jsonl; recorded
jobs are not repeated, and a job that was killed goes on. Runs are stored in runs/options-….
"""

from pathlib import Path
from typing import Any

from jobs import main, make, spent_on
from pretraining import GLUE, SHAPE, epochs_filling, fine_tuned, seconds_of

from niwaki import evaluate
from niwaki.core.files import read_json
from niwaki.core.json_types import Json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

LENGTH, BATCH = 128, 32
SHALLOW = 0.5  # share of the epochs that `growing depth` trains with half of the layers
NEW: Json = {"use": "from_scratch", "family": "bert", "positions": LENGTH, **SHAPE}
SLICE: Json = {"use": "student", "layers": 6, "hidden": SHAPE["hidden_size"], "heads": 8, "ffn": SHAPE["ffn_size"]}
# name: what the stage's method, and its train block, have instead
TABLE: dict[str, tuple[Json, Json]] = {
    "plain": (NEW, {}),
    "short sequences first": (NEW, {"short_tokens": 32, "short_share": 0.8}),
    "growing batch": (NEW, {"batch_growth": 4}),
    "growing depth": ({**NEW, "layers": SHAPE["layers"] // 2}, {}),
    "factorized embeddings": ({**NEW, "family": "electra", "embedding_size": 64}, {}),
    "shared layers": ({**NEW, "family": "albert", "embedding_size": 64}, {}),
    "muon": (NEW, {"optimizer": "muon"}),
    "slice of MiniLM": (SLICE, {}),
}


def recipe(name: str, seed: int, text: str, epochs: float) -> Json:
    method, more = TABLE[name]
    train = {"objective": "masked_lm", "batch": BATCH, "lr": 1e-3, "dropout": 0.0, "keep": "last", "validations": 0}
    grows = name == "growing depth"
    first = {"name": "language_model", "methods": [method], "train": {**train, "epochs": epochs, **more}}
    if grows:
        first["train"]["epochs"] = SHALLOW * epochs
    deeper = {
        "name": "deeper",
        "methods": [{"use": "stack", "layers": SHAPE["layers"]}],
        "train": {**train, "epochs": (1 - SHALLOW) * epochs},
    }
    return {
        "model": "minilm",
        "task": "language_modeling",
        "data": {"path": text, "max_tokens": LENGTH},
        "seed": seed,
        "quantize": [],
        "baselines": False,
        "stages": [first, deeper] if grows else [first],
    }


def trained(name: str, seed: int, text: str, epochs: float) -> tuple[Plan, Path]:
    plan = make_plan(parse(recipe(name, seed, text, epochs)), name)
    folder = Path("runs") / f"options-{name.replace(' ', '-')}-{seed}"
    make(plan, folder)
    return plan, folder


def run(name: str, seed: int, data: str, text: str = "", minutes: str = "") -> dict[str, Any]:
    length = float(minutes or 30)
    text = str(Path(text or Path(data) / "pretraining").resolve())
    epochs = epochs_filling(length, lambda epochs: seconds_of(*trained(name, seed, text, epochs)))
    plan, folder = trained(name, seed, text, epochs)
    home = folder / plan.stages[-1].folder
    model = (home / "model").resolve()
    blimp = evaluate(model, task="blimp", data=data)
    glue = {task: fine_tuned(task, count, model, seed, data, folder / "glue") for task, count in GLUE.items()}
    result, spent = read_json(home / "result.json"), [spent_on(stage, folder) for stage in plan.stages]
    return {
        "option": name,
        "seed": seed,
        "minutes": length,
        "epochs": epochs,
        "text": Path(text).name,
        "recipe": recipe(name, seed, "", epochs),
        "parameters": result["parameters"],
        "score": result["score"],
        "blimp": {metric: score["value"] for metric, score in blimp["all"].items()},
        "glue": {task: found["score"] for task, found in glue.items()},
        "spent": {key: sum(one[key] or 0 for one in spent) for key in ("seconds", "cpu_seconds", "joules")},
    }


if __name__ == "__main__":
    main(
        __doc__,
        "pretraining_options",
        ("option", "seed"),
        [(name, 0) for name in TABLE],
        run,
        text="folder of texts, made by pretraining_text.py; default: the folder `pretraining` in DATA",
        minutes="minutes of training for each option; default: 30",
    )
