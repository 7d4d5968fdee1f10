"""Settings of the demo's teacher, compared on validation rows: `python benchmarks/demo_teacher.py . [settings/seed …]`.

Trains the first stage of recipe `rotten_tomatoes` on the bundled rows with each setting and appends its best validation score and processor seconds (set
OMP_NUM_THREADS=1) to results/demo_teacher.jsonl. Test scores are left out on purpose: `demo.py` records them for the settings that are chosen here.
"""

import itertools
from pathlib import Path
from typing import Any

import jobs

from niwaki.core.files import read_json
from niwaki.run.plan import make_plan
from niwaki.run.recipe import locate, read

METHODS, TRAIN = "stages.teacher.methods", "stages.teacher.train"
FREEZE, POOLED, PROBE, AVERAGE = (
    f'{{ use = "{name}" }}' for name in ("freeze", "pooled_head", "linear_probe", "weight_averaging")
)
LINEAR = '{ use = "pooled_head", dense = false }'
SETTINGS = {  # all with the recipe's 1.5 epochs
    "before": [f"{METHODS}=[{FREEZE}]", f"{TRAIN}={{ epochs = 1.5, lr = 1e-4, dropout = 0.0 }}"],
    "pooled": [f"{METHODS}=[{FREEZE}, {POOLED}]"],
    "probed": [f"{METHODS}=[{FREEZE}, {POOLED}, {PROBE}]"],
    "probed-2e-4": [f"{METHODS}=[{FREEZE}, {POOLED}, {PROBE}]", f"{TRAIN}.lr=2e-4"],
    "probed-averaged": [f"{METHODS}=[{FREEZE}, {POOLED}, {PROBE}, {AVERAGE}]", f"{TRAIN}.lr=2e-4"],
    "averaged": [f"{METHODS}=[{FREEZE}, {POOLED}, {AVERAGE}]", f"{TRAIN}.lr=2e-4"],
    "linear-averaged": [f"{METHODS}=[{FREEZE}, {LINEAR}, {PROBE}, {AVERAGE}]", f"{TRAIN}.lr=2e-4"],
    "pooled-warmup": [f"{METHODS}=[{FREEZE}, {POOLED}]", f"{TRAIN}.lr=2e-4", f"{TRAIN}.warmup=0.3"],
}


def run(settings: str, seed: int, data: str) -> dict[str, Any]:
    recipe = read(locate("rotten_tomatoes"), ["quantize=[]", f"seed={seed}", *SETTINGS[settings]])
    plan = make_plan(recipe.model_copy(update={"stages": recipe.stages[:1]}), "demo-teacher")
    folder = Path("runs") / f"demo-teacher-{settings}-{seed}"
    jobs.make(plan, folder)
    result = read_json(folder / plan.stages[0].folder / "result.json")
    return {
        "settings": settings,
        "seed": seed,
        "metric": plan.task.metric,
        "rows": {part: table.num_rows for part, table in plan.task.splits().items()},
        "validation": result["training"]["best_score"],
        "training": result["training"],
        "train": plan.stages[0].to_json()["train"],
        "spent": jobs.spent_on(plan.stages[0], folder),
    }


if __name__ == "__main__":
    found = [(settings, seed) for seed, settings in itertools.product((0, 1, 2), SETTINGS)]
    jobs.main(__doc__, "demo_teacher", ("settings", "seed"), found, run)
