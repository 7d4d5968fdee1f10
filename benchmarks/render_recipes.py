"""Renders recipes/measured.json and the recipe gallery docs/recipes.md from records and recipe files."""

import json
import statistics
from collections import defaultdict
from dataclasses import asdict
from functools import cache
from typing import Any

import records
import shipped
from method_names import current
from render_demo import latest
from render_distil import NAMES

from niwaki.core.recipe_figures import Figures
from niwaki.core.recipes import SHIPPED_RECIPES

Record = dict[str, Any]
MEASURED, GALLERY = "src/niwaki/recipes/measured.json", "docs/recipes.md"
TRAIN_KEYS = {
    "unlabelled": "transfer",
    "unlabelled_path": "texts",
    "augmentations": "augment",
}  # stored under old names
ONNX, TRANSFORMERS = "the teacher in ONNX Runtime on one core", "the teacher in transformers (fp32)"
SPEED = {"slim": ("slim", "int8"), "slim-and-teacher": ("fast", "cascade of int8 and teacher-int8")}  # of peers.jsonl
HEAD = """# Recipe gallery

Every recipe below is a file in `src/niwaki/recipes` and runs by name, on the bundled reviews or on your own rows:

```sh
niwaki run narrow
niwaki run narrow --data my.csv
niwaki show narrow        # the file and its figures
```

`make results` renders this page from the recipe files and the benchmark records. A figure is shown only if the recorded stages have the settings of
the recipe. Smaller compares the weights file, except for `rotten_tomatoes` (the whole folder). [Results](results/compression.md) explains the measurements.
"""


def files() -> dict[str, str]:
    found = measured()
    stored = {name: [asdict(figures) for figures in found[name]] for name in sorted(found)}
    return {MEASURED: json.dumps(stored, indent=1) + "\n", GALLERY: gallery(found)}


@cache
def measured() -> dict[str, list[Figures]]:
    found: dict[str, list[Figures]] = defaultdict(list)
    found["rotten_tomatoes"].append(demo())
    for recipe in recipe_names():
        if shipped.makes_cascade(recipe):  # its stages are those of another recipe, where their figures are
            continue
        for by_task in (combined(recipe), distilled(recipe)):
            found[recipe] += by_task
    for name, (recipe, stage) in SPEED.items():
        found[recipe].append(compared_with_transformers(name, stage))
    return {name: figures for name, figures in found.items() if figures}


def recipe_names() -> list[str]:
    return sorted(path.stem for path in SHIPPED_RECIPES.glob("*.toml"))


def demo() -> Figures:
    rows = latest(records.read("demo"))
    pairs = [(row["stages"][0], row["stages"][-1], row["reference"]) for row in rows]
    return Figures(
        task=NAMES["rotten_tomatoes"],
        stage=pairs[0][1]["name"],
        seeds=len(rows),
        kept=mean(new["score"] / old["score"] for old, new, _ in pairs),
        faster=mean(new["throughput"] / reference["throughput"] for _, new, reference in pairs),
        faster_than=TRANSFORMERS,
        smaller=mean(old["bytes"] / new["bytes"] for old, new, _ in pairs),
        megabytes=mean(new["bytes"] / 1e6 for _, new, _ in pairs),
    )


def combined(recipe: str) -> list[Figures]:
    """From the records of benchmarks/stack.py that have the stages of the recipe."""
    rows = [row for row in records.read("stack") if row["kind"] == "stack"]
    name = shipped.stages(recipe)[-1]["name"]
    ends = {stored: recorded_stage(recipe, rows, current(stored)) for stored in {row["name"] for row in rows}}
    newest = {(row["task"], row["seed"]): row for row in rows if ends[row["name"]] == name}
    return [
        Figures(
            task=NAMES[task],
            stage=name,
            seeds=len(some),
            kept=mean(row["scores"][1] / row["scores"][0] for row in some),
            faster=mean(row["faster"]["value"] for row in some),
            faster_than=ONNX,
            smaller=mean(row["weights"][0] / row["weights"][1] for row in some),
            megabytes=mean(row["weights"][1] / 1e6 for row in some),
        )
        for task, some in by_task(newest)
    ]


def recorded_stage(recipe: str, rows: list[Record], name: str) -> str:
    """The stage of the recipe at which the record on Rotten Tomatoes ends; empty if its settings are others. The other tasks use other
    numbers of epochs or texts."""
    row = next((row for row in rows if current(row["name"]) == name and row["task"] == "rotten_tomatoes"), None)
    return last_stage(recipe, row) if row else ""


def distilled(recipe: str) -> list[Figures]:
    """From the records of benchmarks/distil.py that have the stages of the recipe, up to a student before quantization."""
    rows = records.read("distil")
    first = {row["variant"]: row for row in rows if row["task"] == "rotten_tomatoes"}
    ends = {variant: last_stage(recipe, row) for variant, row in first.items()}
    newest = {(row["task"], row["seed"]): row for row in rows if ends.get(row["variant"]) and own(recipe, row)}
    return [
        Figures(
            task=NAMES[task],
            stage=ends[some[0]["variant"]],
            seeds=len(some),
            kept=mean(row["scores"]["student"] / row["scores"]["teacher"] for row in some),
            faster=mean(row["faster"]["value"] for row in some),
            faster_than=ONNX,
        )
        for task, some in by_task(newest)
    ]


def own(recipe: str, row: Record) -> bool:
    """Stages that several recipes share belong to the recipe of the same name."""
    return row["variant"] == recipe


def by_task(newest: dict[tuple[str, int], Record]) -> list[tuple[str, list[Record]]]:
    return [(task, some) for task in NAMES if (some := [row for (other, _), row in newest.items() if other == task])]


def last_stage(recipe: str, row: Record) -> str:
    """The stage of the recipe that the record ends with, if all its stages after the teacher have the settings of the recipe."""
    planned = shipped.stages(recipe)[1:]
    recorded = row["stages"]
    if not recorded or len(recorded) > len(planned):
        return ""
    same = all(equal(plan, record) for plan, record in zip(planned, recorded, strict=False))
    return planned[len(recorded) - 1]["name"] if same else ""


def equal(plan: Record, record: Record) -> bool:
    methods = [{**method, "use": current(method["use"])} for method in record["methods"]]
    if [method["use"] for method in plan["methods"]] != [method["use"] for method in methods]:
        return False
    settings = all(given.items() <= stored.items() for given, stored in zip(plan["methods"], methods, strict=True))
    train = {TRAIN_KEYS.get(key, key): value for key, value in plan.get("train", {}).items()}
    stored = {TRAIN_KEYS.get(key, key): value for key, value in (record["train"] or {}).items()}
    return settings and bool(plan.get("train")) == bool(stored) and train.items() <= stored.items()


def compared_with_transformers(name: str, stage: str) -> Figures:
    """From benchmarks/peers.py: the median over all records, because speed varies between them."""
    rows = [row for row in records.read("peers") if f"niwaki student {name}" in row["contenders"]]
    found = [row["contenders"][f"niwaki student {name}"] for row in rows]
    teachers = [row["contenders"]["transformers eager fp32"] for row in rows]
    return Figures(
        task=NAMES[rows[-1]["task"]],
        stage=stage,
        seeds=1,
        kept=found[-1]["score"] / teachers[-1]["score"],
        faster=statistics.median(one["streams"]["arrival"]["ratio"] for one in found),
        faster_than=TRANSFORMERS,
    )


def gallery(found: dict[str, list[Figures]]) -> str:
    names = sorted(recipe_names(), key=lambda name: (name not in found, name))
    return "\n".join([HEAD, *(recipe_section(name, found.get(name, [])) for name in names)])


def recipe_section(name: str, figures: list[Figures]) -> str:
    text = (SHIPPED_RECIPES / f"{name}.toml").read_text(encoding="utf-8")
    description, _, body = text.partition("\n")
    lines = [
        f"| {one.task} | {one.stage} | {one.kept:.1%} | {f'{one.smaller:.1f}×' if one.smaller else ''} | "
        f"{f'{one.megabytes:.1f}' if one.megabytes else ''} | {one.faster:.1f}× than {one.faster_than} | {one.seeds} |"
        for one in figures
    ]
    head = ["| task | stage | score kept | smaller | MB | faster | seeds |", "|---|---|---|---|---|---|---|"]
    table = [*head, *lines] if lines else ["No benchmark has run these exact settings."]
    return "\n".join(
        [
            f"## {name}\n",
            description.lstrip("# ") + ".\n",
            *table,
            *(["", CASCADE] if shipped.makes_cascade(name) else []),
            f"\n```toml\n{body.strip()}\n```\n",
        ]
    )


CASCADE = """The cascade answers with the student where it is confident and with the 8-bit teacher otherwise ([Cascades](cascade.md)).
The recorded one was made by `niwaki cascade` from these two stages.
`niwaki.load` and `niwaki predict` open it from the run's folder."""


def mean(values: Any) -> float:
    return round(statistics.mean(values), 4)
