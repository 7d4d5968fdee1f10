"""Your own data: writes a small CSV file and a recipe with two stages, and runs it. Takes a minute on two cores.

python examples/own_data.py
"""

import csv
import sys
from pathlib import Path

import niwaki

OPENINGS = ("the parcel", "my order", "the box", "everything", "the lamp", "the second chair")
PRAISE = ("came early", "works well", "is just right", "was packed with care", "looks lovely")
COMPLAINTS = ("came late", "is broken", "is the wrong size", "was damp and torn", "never arrived")
ENDINGS = ("", " again", ", as before", ", thank you", ", I think", " this time")

RECIPE = """\
# Complaints and praise: a teacher and its int8 version

model = "{model}"
task = "classification"
data = {{ path = "{rows}", text = "message", label = "kind" }}

[[stages]]
name = "teacher"
train = {{ epochs = 2, lr = 2e-4 }}

[[stages]]
name = "int8"
methods = [{{ use = "int8" }}]
"""


def write_rows(path: Path) -> None:
    """Columns can have any name; the recipe names them."""
    rows = [
        {"message": f"{opening} {verdict}{ending}", "kind": kind}
        for kind, verdicts in (("praise", PRAISE), ("complaint", COMPLAINTS))
        for opening in OPENINGS
        for verdict in verdicts
        for ending in ENDINGS
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, ["message", "kind"])
        table.writeheader()
        table.writerows(rows)


def main(folder: str = "runs/own_data", model: str = "minilm") -> None:
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    write_rows(root / "rows.csv")
    (root / "own_data.toml").write_text(RECIPE.format(model=model, rows=root / "rows.csv"), encoding="utf-8")

    plan = niwaki.check(root / "own_data.toml")  # raises InputError with all errors of the recipe, before any work
    low, high = plan["estimate"]["seconds_range"]
    sys.stdout.write(f"about {low:.0f} to {high:.0f} s, {plan['task']['rows']}\n")

    run = niwaki.run(root / "own_data.toml", out=root / "run")
    sys.stdout.write(f"{run!r}\n")
    for answer in niwaki.load(run.folder).predict(["my lamp came late and is broken"]):
        sys.stdout.write(f"{answer}\n")


if __name__ == "__main__":
    main()
