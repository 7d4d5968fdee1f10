"""Renders the page on transformers' Trainer with the usual grid of settings, next to ours."""

import statistics

import records
from render_distil import spread
from results_page import Page, Record, Records, Section

SETTINGS = 12  # of a whole grid
OURS = "strong-"  # jobs of glue.py
SHARE = 0.5  # of the grid's processor time that ours may take
HALF = f"{SHARE:.0%}"


def grids(rows: Records) -> dict[str, list[Records]]:
    """Whole grids by task, one for each seed, of the newest records."""
    newest = {(row["task"], row["seed"], row["epochs"], row["lr"]): row for row in rows}
    by_seed: dict[tuple[str, int], Records] = {}
    for row in newest.values():
        by_seed.setdefault((row["task"], row["seed"]), []).append(row)
    found: dict[str, list[Records]] = {}
    for (task, _), grid in sorted(by_seed.items()):
        if len(grid) == SETTINGS:
            found.setdefault(task, []).append(grid)
    return found


def trainer_grid(rows: Records) -> str:
    newest = {row["name"]: row for row in records.read("glue")}
    found = grids(rows)
    done = {(row["task"], row["seed"], row["epochs"], row["lr"]) for row in rows}
    return "\n".join(
        [
            "Command: `python benchmarks/trainer_grid.py DATA`, one thread. Trainer fine-tunes MiniLM with learning rates 1e-5, 2e-5, 3e-5 and 5e-5 for 3, 5 and 10 epochs, 12 settings; the best on validation rows is tested; sst2-1000 has 1,000 train rows. "
            "Ours are the settings of `glue.py` (recipe `own_data` for 1,000 rows) with their recorded time, which includes saving, export and evaluation; where ours starts from a model that was fine-tuned on MNLI, the time of that model is added to each seed. Score × 100, mean ± standard deviation over the seeds.",
            "",
            f"| task | Trainer | CPU s of the grid | ours | CPU s | share of the time | equal or better within {HALF} of the time |",
            "|---|---|---|---|---|---|---|",
            *(line(task, seeds, newest) for task, seeds in found.items() if OURS + task in newest),
            "",
            f"{len(done)} single settings are recorded; a task appears once a seed has all {SETTINGS}.",
        ]
    )


def line(task: str, seeds: list[Records], newest: dict[str, Record]) -> str:
    best = [max(grid, key=lambda row: row["validation"])["test"] for grid in seeds]
    whole = statistics.mean(sum(row["cpu_seconds"] for row in grid) for grid in seeds)
    ours = newest[OURS + task]
    start = newest.get(ours["start"])
    seconds = statistics.mean(spent["cpu_seconds"] for spent in ours["spent"])
    seconds += start["spent"][0]["cpu_seconds"] if start else 0.0
    better = statistics.mean(ours["glue"]) >= statistics.mean(best) and seconds <= SHARE * whole
    cells = [
        task,
        f"{spread([100 * value for value in best])} ({len(best)})",
        f"{whole:.0f}",
        f"{spread([100 * value for value in ours['glue']])} ({len(ours['glue'])})",
        f"{seconds:.0f}",
        f"{seconds / whole:.0%}",
        "yes" if better else "no",
    ]
    return f"| {' | '.join(cells)} |"


def headline() -> str:
    return f"Whole grids of Trainer were run on {len(grids(records.read('trainer_grid')))} tasks."


if records.read("trainer_grid"):  # the page exists from the first record on
    SECTIONS = (Section("trainer_grid", "Compared with a grid of settings", trainer_grid),)
    PAGE = Page("trainer_grid", "Trainer with a grid", "Tasks", headline, SECTIONS)
