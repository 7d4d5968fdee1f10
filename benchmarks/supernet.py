"""Are shapes that are cut from a supernet ranked as the same shapes trained alone?

    python benchmarks/supernet.py FOLDER [SHAPES [EPOCHS]]      9 shapes and 1.5 epochs by default

On the bundled reviews, from the teacher of recipe `supernet`: one supernet, and every shape both cut from it and trained alone, from the
teacher cut to it, with as many epochs. A killed command resumes in FOLDER. Appends a record to results/supernet.jsonl.
"""

import itertools
import random
import sys
from pathlib import Path

from records import append, circumstances
from scipy.stats import spearmanr

import niwaki
from niwaki.core.files import read_json
from niwaki.core.json_types import Json
from niwaki.run.recipe import locate, parse, read, to_toml

LAYERS, SHARES = (2, 3, 4, 6), (0.25, 0.5, 0.75)


def stages_of(shapes: list[tuple[int, float, float]], epochs: float) -> list[Json]:
    teacher, supernet, _ = read(locate("supernet")).model_dump(exclude_unset=True)["stages"]
    train = {**supernet["train"], "epochs": epochs}
    found = [teacher, {**supernet, "train": train}]
    for number, (layers, heads, ffn) in enumerate(shapes):
        cut = [{"use": "subnet", "layers": layers, "heads": heads, "ffn": ffn}]
        found.append({"name": f"cut{number}", "start": "supernet", "methods": cut})
    for number, (layers, heads, ffn) in enumerate(shapes):
        alone = [
            {"use": "heads", "keep": heads},
            {"use": "ffn", "keep": ffn},
            {"use": "layers", "count": layers, "choose": "spread"},
            {"use": "logits", "temperature": 2.0},
        ]
        name = f"alone{number}"
        found.append({"name": name, "start": "teacher", "teacher": "teacher", "methods": alone, "train": train})
    return found


def seconds_of(stage: Json) -> float:
    """Processor seconds that making the stage took."""
    return float(stage["energy"]["making"]["cpu_seconds"])


def main(folder: str, count: str = "9", epochs: str = "1.5") -> None:
    every = list(itertools.product(LAYERS, SHARES, SHARES))
    shapes = random.Random(0).sample(every, int(count))
    recipe = {"model": "minilm", "task": "rotten_tomatoes", "quantize": [], "baselines": False, "race": "short"}
    path = Path(folder) / "recipe.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_toml(parse({**recipe, "stages": stages_of(shapes, float(epochs))})), encoding="utf-8")
    run = niwaki.run(path, out=Path(folder) / "run")
    results = {stage["name"]: stage for stage in read_json(run.folder / "report.json")["stages"]}
    lines = [
        {
            "shape": shape,
            **{kind: results[f"{kind}{number}"]["score"] for kind in ("cut", "alone")},
            "cut_seconds": seconds_of(results[f"cut{number}"]),
            "alone_seconds": seconds_of(results[f"alone{number}"]),
        }
        for number, shape in enumerate(shapes)
    ]
    record = {
        "epochs": float(epochs),
        "teacher": results["teacher"]["score"],
        "supernet": results["supernet"]["score"],
        "supernet_seconds": seconds_of(results["supernet"]),
        "shapes": lines,
        "correlation": float(spearmanr([line["cut"] for line in lines], [line["alone"] for line in lines]).statistic),
    }
    append("supernet", {**record, **circumstances()})
    print(record)


if __name__ == "__main__":
    main(*sys.argv[1:])
