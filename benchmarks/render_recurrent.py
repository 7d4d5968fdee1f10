"""Renders the page on LSTM language models: ULMFiT, and frozen features."""

import numpy as np
import records
from results_page import Page, Records, Section

STARTS = {"domain": "general text, then reviews", "general": "general text", "random": "not pretrained"}
FEATURES = {"weighted": "weighted layers", "top": "last layer", "static": "token vectors", "random": "not pretrained"}


def ulmfit(rows: Records) -> str:
    found = latest(rows, "start", "rows", "seed")
    sizes = sorted({row["rows"] for row in found})
    head = [
        "Command: `python benchmarks/ulmfit.py SHARED FOLDER`. Recipe `lstm_lm` on wiki_en, then on the IMDb training reviews without labels; recipe `ulmfit` on some of its rows. "
        f"Accuracy in % on {found[-1]['test']:,} test rows, mean ± standard deviation over samples of rows. {found[-1]['pretraining_epochs']:g} epochs of each text.",
        "",
        f"| language model | {' | '.join(f'{size:,} rows' for size in sizes)} | pretraining, CPU s |",
        f"|---|{'---|' * (len(sizes) + 1)}",
    ]
    for start, name in STARTS.items():
        own = [row for row in found if row["start"] == start]
        cells = [spread([row["accuracy"] for row in own if row["rows"] == size]) for size in sizes]
        head.append(f"| {name} | {' | '.join(cells)} | {max(row['pretraining_cpu_seconds'] for row in own):.0f} |")
    return "\n".join(head)


def elmo(rows: Records) -> str:
    found = latest(rows, "features", "task", "seed")
    tasks = {row["task"]: row["metric"] for row in found}
    head = [
        "Command: `python benchmarks/elmo.py SHARED FOLDER`. A linear head on frozen features of a bidirectional LSTM language model (wiki_en, "
        f"{found[-1]['pretraining_epochs']:g} epochs). Scores in %, mean ± standard deviation over seeds.",
        "",
        f"| features | {' | '.join(f'{task}, {metric}' for task, metric in tasks.items())} |",
        f"|---|{'---|' * len(tasks)}",
    ]
    for kind, name in FEATURES.items():
        scores = ([row["score"] for row in found if (row["features"], row["task"]) == (kind, task)] for task in tasks)
        head.append(f"| {name} | {' | '.join(map(spread, scores))} |")
    return "\n".join(head)


def latest(rows: Records, *keys: str) -> Records:
    """The newest record of each combination."""
    return list({tuple(row[key] for key in keys): row for row in rows}.values())


def spread(values: list[float]) -> str:
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}" if values else "–"


def headline() -> str:
    rows = latest(records.read("ulmfit"), "start", "rows", "seed")
    if not rows:
        return "frozen features of LSTM language models"
    least = min(row["rows"] for row in rows)
    mean = {
        start: 100 * np.mean([row["accuracy"] for row in rows if (row["start"], row["rows"]) == (start, least)])
        for start in STARTS
    }
    return f"{least} labelled reviews: {mean['domain']:.1f} with ULMFiT, {mean['random']:.1f} without pretraining (mean accuracy)"


PAGE = Page(
    "recurrent",
    "LSTM language models",
    "Tasks",
    headline,
    (
        Section("ulmfit", "ULMFiT and the same network without pretraining", ulmfit),
        Section("elmo", "Frozen features of a bidirectional language model", elmo),
    ),
)
