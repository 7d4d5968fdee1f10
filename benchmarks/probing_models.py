"""The models that probing.py compares: MiniLM, fine-tuned on Rotten Tomatoes, and made smaller in four ways."""

from pathlib import Path

from jobs import make

from niwaki.core.json_types import Json
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse

LOGITS: Json = {"use": "logits", "temperature": 2.0}
TRAINED: Json = {"epochs": 0.7, "lr": 2e-4, "dropout": 0.0}
STAGES: list[Json] = [
    {"name": "teacher", "train": {"epochs": 1, "lr": 1e-4, "dropout": 0.1}},
    {
        "name": "student",
        "methods": [{"use": "student", "layers": 3}, LOGITS, {"use": "attention_relations"}],
        "train": TRAINED,
    },
    {
        "name": "pruned",
        "methods": [{"use": "magnitude", "sparsity": 0.7}, LOGITS],
        "train": {**TRAINED, "lr": 1e-4},
    },
    {"name": "4-bit", "methods": [{"use": "rtn", "bits": 4}]},
    {"name": "ternary", "methods": [{"use": "ternary"}, {"use": "tinybert", "prediction": 1.0}], "train": TRAINED},
]


def recipe(seed: int) -> Json:
    """All but the teacher start from it; those that are trained have it as their teacher."""
    first, *others = STAGES
    later = [{**stage, "start": "teacher", **({"teacher": "teacher"} if "train" in stage else {})} for stage in others]
    common: Json = {"model": "minilm", "task": "rotten_tomatoes", "seed": seed, "quantize": [], "baselines": False}
    return {**common, "stages": [first, *later]}


def models(seed: int) -> dict[str, Path]:
    """Folders by name; made at the first call."""
    plan: Plan = make_plan(parse(recipe(seed)), "probing")
    folder = Path("runs") / f"probing-{seed}"
    make(plan, folder)
    return {stage.name: folder / stage.folder / "model" for stage in plan.stages}


if __name__ == "__main__":
    print(models(0))
