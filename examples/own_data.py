"""Your own rows: writes a small csv, a short recipe of two stages, and runs it. A minute on two cores.

python examples/own_data.py
"""

import csv
import sys
from pathlib import Path

import niwaki

OPENINGS = ("the parcel", "my order", "the box", "everything", "the lamp", "the second chair")
PRAISE = ("came early", "works well", "is just right", "was packed with care", "looks lovely")
BLAME = ("came late", "is broken", "is the wrong size", "was damp and torn", "never arrived")
ENDINGS = ("", " again", ", as before", ", thank you", ", I think", " this time")

RECIPE = """\
# Complaints and praise: a teacher, and the same in int8

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
    """Columns may have any name; the recipe says which is which."""
    rows = [
        (f"{opening} {verdict}{ending}", kind)
        for kind, verdicts in (("praise", PRAISE), ("complaint", BLAME))
        for opening in OPENINGS
        for verdict in verdicts
        for ending in ENDINGS
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["message", "kind"])
        writer.writerows(rows)


def main(folder: str = "runs/own_data", model: str = "minilm") -> None:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write_rows(place / "rows.csv")
    (place / "own_data.toml").write_text(RECIPE.format(model=model, rows=place / "rows.csv"), encoding="utf-8")

    plan = niwaki.check(place / "own_data.toml")  # refused here, with every fault, before any work
    low, high = plan["estimate"]["seconds_range"]
    sys.stdout.write(f"about {low:.0f} to {high:.0f} s, {plan['task']['rows']}\n")

    run = niwaki.run(place / "own_data.toml", out=place / "run")
    sys.stdout.write(f"{run!r}\n")
    for answer in niwaki.load(run.folder).predict(["my lamp came late and is broken"]):
        sys.stdout.write(f"{answer}\n")


if __name__ == "__main__":
    main()
