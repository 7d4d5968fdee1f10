"""Renders the section on GLUE and SQuAD: fine-tuned models and baselines."""

import statistics
from collections.abc import Sequence
from typing import Any

import records
from render_distil import gap, spread
from results_page import Page, Section

from niwaki.evaluate.glue import average

Records = list[dict[str, Any]]
ORDER = (
    "cola",
    "sst2",
    "mrpc",
    "stsb",
    "rte",
    "wnli",
    "qnli",
    "qqp",
    "mnli",
    "squad",
    "mpnet-sst2",
    "mpnet-mrpc",
    "mpnet-stsb",
)
BASELINES = ("majority", "tfidf", "static", "frozen")


def glue(rows: Records) -> str:
    """One row per task, from its newest record."""
    newest = {row["name"]: row for row in rows}
    found = [newest[name] for name in ORDER if name in newest]
    return "\n".join(
        [
            "Command: `python benchmarks/glue.py DATA [names]`, with DATA a folder of tasks ([Tasks](../tasks.md)). Recipe `finetune` (embeddings frozen), evaluated "
            "on the development rows, which are not used for model selection. The task's GLUE score × 100, mean ± standard deviation over the seeds; "
            "baselines on the same rows; the difference to the best baseline with its 95 % interval.",
            "",
            "| model, task | training rows | test rows | metric | majority | TF-IDF + SVM | static vectors | frozen encoder | fine-tuned | all metrics | gain over the best baseline |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
            *(glue_line(row, BASELINES) for row in found),
            "",
            *glue_notes(found),
        ]
    )


def glue_line(row: dict[str, Any], kinds: Sequence[str]) -> str:
    baselines = {baseline["kind"]: f"{100 * baseline['value']:.1f}" for baseline in row["rungs"]}
    metrics = {name: statistics.mean(scores[name] for scores in row["scores"]) for name in row["scores"][0]}
    metrics |= {name: statistics.mean(parts[name] for parts in row["parts"]) for name in row["parts"][0]}
    pair = next(pair for pair in row["pairs"] if pair["b"] == row["best_rung"])
    cells = [
        f"{row['model']}, {row['task']}",
        f"{row['rows']['train']:,}",
        f"{row['rows']['test']:,}",
        row["metric"],
        *(baselines.get(kind, "") for kind in kinds),
        f"**{spread([100 * value for value in row['glue']])}** ({len(row['seeds'])} seed{'s' if len(row['seeds']) > 1 else ''})",
        ", ".join(f"{name} {value:.3f}" for name, value in metrics.items() if name != "mean"),
        gap(pair),
    ]
    return "| " + " | ".join(cells) + " |"


def glue_notes(found: Records) -> list[str]:
    """Notes on single rows, and which tasks are missing for a GLUE average."""
    notes = [f"- {row['model']}, {row['task']}: {row['note']}." for row in found if row["note"]]
    complete = {
        row["task"]: statistics.mean(row["glue"]) for row in found if not row["note"] and row["model"] == "minilm"
    }
    missing = average(complete)["missing"]
    if missing:
        notes.append(
            f"- No GLUE average, because it needs all nine tasks; missing or incomplete: {', '.join(missing)}."
        )
    return notes


def headline() -> str:
    newest = {row["name"]: row for row in records.read("glue")}
    pairs = [next(pair for pair in row["pairs"] if pair["b"] == row["best_rung"]) for row in newest.values()]
    better, worse = sum(pair["low"] > 0 for pair in pairs), sum(pair["high"] < 0 for pair in pairs)
    return f"Fine-tuning is better than the best simple baseline in {better} of {len(pairs)} settings, worse in {worse}; no difference is shown in {len(pairs) - better - worse}."


PAGE = Page("glue", "GLUE and SQuAD", "Tasks", headline, (Section("glue", "Fine-tuning and baselines", glue),))
