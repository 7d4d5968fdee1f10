"""Renders the page on fine-tuning with few rows of one's own, next to a linear model on frozen embeddings."""

import statistics

import records
from render_distil import gap, spread
from results_page import Page, Record, Records, Section

KEYS = ("dataset", "rows", "settings", "seed")
SHIPPED = "alternatives"  # the settings that recipe `own_data` has now
RENAMED = {"recipe": "fixed"}  # settings of older records


def latest(rows: Records) -> Records:
    """The newest record of each job."""
    named = [{**row, "settings": RENAMED.get(row["settings"], row["settings"])} for row in rows]
    return list({tuple(row[key] for key in KEYS): row for row in named}.values())


def own_data(rows: Records) -> str:
    found = latest(rows)
    groups = sorted({(row["rows"], row["dataset"], row["settings"]) for row in found})
    worse = [row for row in found if row["settings"] == SHIPPED and to_frozen(row)["high"] < 0]
    below = [row for row in found if row["settings"] == SHIPPED and to_frozen(row)["difference"] < 0]
    runs = sum(row["settings"] == SHIPPED for row in found)
    summary = (
        f"{len(below)} of {runs} runs; by more than the interval: {len(worse)} (target: none)"
        if runs
        else "not run yet"
    )
    return "\n".join(
        [
            "Command: `python benchmarks/own_data.py DATA [dataset/rows/settings/seed …]`. The first stage of recipe `own_data` on rows drawn from each dataset, a tenth of which validates, and on at most 1,000 test rows. "
            "The task's metric × 100, mean ± standard deviation over seeds (each draws other rows); the difference to logistic regression on the frozen encoder's embeddings is that of the worst seed, with its 95 % interval. "
            'Settings: `alternatives` is the recipe as it is: a linear model on the frozen encoder, or fine-tuning with a new head (`train = "auto"`), chosen by cross-validation on training rows. Its settings were chosen on other rows of SST-2, CoLA, QNLI and WordNet. `fixed` is what it was before: the first token, a new head, 6 epochs, 1e-4. '
            '`probe` gives the head the linear model of the frozen encoder (`auto_head`, `linear_probe`, `train = "auto"`), and keeps it unless fine-tuning is better by more than chance. '
            "`gradient_probe` is an earlier form of `probe`, whose head was trained by gradient steps and whose choice compared scores alone; it cannot be run any more.",
            "",
            "| dataset | rows | labels | settings | seeds | majority | TF-IDF + SVM | frozen encoder | fine-tuned | worst difference to the frozen encoder | frozen encoder kept | CPU s |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
            *(
                line([row for row in found if (row["rows"], row["dataset"], row["settings"]) == group])
                for group in groups
            ),
            "",
            f"Recipe below the frozen encoder: {summary}.",
        ]
    )


def to_frozen(row: Record) -> Record:
    return next(pair for pair in row["pairs"] if pair["b"].startswith("frozen"))


def is_frozen(row: Record) -> bool:
    return row["training"] is None or row["training"]["best_step"] == 0


def line(rows: Records) -> str:
    first = rows[0]
    worst = min((to_frozen(row) for row in rows), key=lambda pair: pair["difference"])
    baselines = ([100 * (row["baselines"][kind] or 0) for row in rows] for kind in ("majority", "tfidf", "frozen"))
    cells = [
        first["dataset"],
        f"{first['rows']:,}",
        str(max(row["labels"] for row in rows)),
        first["settings"],
        str(len(rows)),
        *map(spread, baselines),
        f"**{spread([100 * row['score'] for row in rows])}**",
        gap(worst),
        f"{sum(is_frozen(row) for row in rows)} of {len(rows)}",
        f"{statistics.mean(row['spent']['cpu_seconds'] for row in rows):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def headline() -> str:
    found = [row for row in latest(records.read("own_data")) if row["settings"] == SHIPPED]
    if not found:
        return "The settings that the recipe has now were not run yet; the page has earlier ones."
    better, worse = (
        sum(decided(to_frozen(row)) for row in found)
        for decided in (lambda pair: pair["low"] > 0, lambda pair: pair["high"] < 0)
    )
    return f"Fine-tuning on few rows is better than a linear model on the frozen encoder in {better} of {len(found)} runs, worse in {worse}; no difference is shown in {len(found) - better - worse}."


def ensembles(rows: Records) -> str:
    newest = {(row["dataset"], row["rows"], row["seed"]): row for row in rows}
    return "\n".join(
        [
            "Command: `python benchmarks/ensembles.py DATA [dataset/rows/seed …]`. Three models that differ in their random numbers; the same model trained on the soft labels of one of them (self-distillation) and of all three; and the mean of their weights (`soup`, "
            "greedy). The difference is to the mean of the three, with its 95 % interval. CPU seconds are those of all stages.",
            "",
            "| dataset | rows | seed | three models | self-distilled | from three teachers | soup | differences | CPU s |",
            "|---|---|---|---|---|---|---|---|---|",
            *map(ensemble_line, newest.values()),
        ]
    )


def ensemble_line(row: Record) -> str:
    scores = {name: f"{100 * value:.1f}" for name, value in row["scores"].items()}
    cells = [
        row["dataset"],
        f"{row['rows']:,}",
        str(row["seed"]),
        ", ".join(scores[name] for name in ("one", "two", "three")),
        *(scores[name] for name in row["pairs"]),
        "; ".join(gap(pair) for pair in row["pairs"].values()),
        f"{sum(spent['cpu_seconds'] for spent in row['spent'].values()):.0f}",
    ]
    return f"| {' | '.join(cells)} |"


SECTIONS = (
    Section("own_data", "Fine-tuning on few rows", own_data),
    Section("ensembles", "Several teachers and self-distillation", ensembles),
)
if records.read("own_data"):  # the page exists from the first record on
    PAGE = Page("own_data", "Own data", "Tasks", headline, SECTIONS)
