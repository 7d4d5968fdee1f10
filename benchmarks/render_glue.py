"""Renders the page on GLUE and SQuAD: stronger fine-tuning before and after, and all fine-tuned models with baselines."""

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
    "mpnet-strong-sst2",
    "mpnet-strong-mrpc",
    "mpnet-strong-stsb",
    "mpnet-strong-rte",
)
BASELINES = ("majority", "tfidf", "static", "frozen")
STRONG = "strong-"  # jobs with the current settings
AVERAGED = ("cola", "sst2", "mrpc", "stsb", "rte", "qnli")
TARGET = 2.0  # points that their average is to rise
FEW_ROWS = 5_000


def before_and_after(rows: Records) -> str:
    """One row per task with a record of the current settings."""
    newest = {row["name"]: row for row in rows}
    tasks = [task for task in ORDER if STRONG + task in newest]
    if not tasks:
        return "No record yet: run `python benchmarks/glue.py DATA`."
    return "\n".join(
        [
            "Command: `python benchmarks/glue.py DATA [strong-TASK]`. Before: the first token, as recorded below. After: `pooled_head` and `linear_probe`, the bi-encoder of recipe `similarity` for STS-B, "
            "and for some tasks a model that was fine-tuned on MNLI first. Settings come from the diary, which looked at one seed on these rows; weights are chosen on rows split from the train rows. "
            "The task's GLUE score × 100, mean ± standard deviation over the seeds; differences over all seeds on the same rows, with their 95 % interval.",
            "",
            "| task | start | majority | frozen encoder | before | after | gain | after, to frozen encoder | after, to majority | frozen encoder kept |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *(strong_line(newest[STRONG + task], newest[task]) for task in tasks),
            "",
            *target_notes(newest, tasks),
        ]
    )


def strong_line(after: dict[str, Any], before: dict[str, Any]) -> str:
    baselines = {baseline["kind"]: f"{100 * baseline['value']:.1f}" for baseline in baselines_of(after)}
    values = {name: [100 * value for value in row["glue"]] for name, row in (("before", before), ("after", after))}
    kept = sum(
        training is None or training["best_step"] == 0 for training in after["training"]
    )  # None: an alternative without training
    cells = [
        after["task"],
        "MNLI" if after["start"] else "MiniLM",
        baselines["majority"],
        baselines["frozen"],
        f"{spread(values['before'])} ({seeds_of(before)})",
        f"**{spread(values['after'])}** ({seeds_of(after)})",
        f"{statistics.mean(values['after']) - statistics.mean(values['before']):+.1f}",
        *(gap(pair) if (pair := pair_with(after, kind)) else "" for kind in ("frozen", "majority")),
        f"{kept} of {len(after['seeds'])}",
    ]
    return "| " + " | ".join(cells) + " |"


def seeds_of(row: dict[str, Any]) -> str:
    count = len(row["seeds"])
    return f"{count} seed{'s' * (count > 1)}"


def pair_with(row: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """The comparison with a baseline, where there is one: only the best without a transformer and the frozen encoder are compared."""
    names = [baseline["name"] for baseline in baselines_of(row) if baseline["kind"] == kind]
    return next((pair for pair in row["pairs"] if pair["b"] in names), None)


def target_notes(newest: dict[str, dict[str, Any]], tasks: list[str]) -> list[str]:
    """The average with its target, tasks below a baseline, and how many seeds are missing."""
    means = {name: 100 * statistics.mean(row["glue"]) for name, row in newest.items()}
    before = statistics.mean(means[task] for task in AVERAGED)
    after = statistics.mean(means.get(STRONG + task, means[task]) for task in AVERAGED)
    open_tasks = [task for task in AVERAGED if task not in tasks]
    unchanged = f" Not run yet, and counted as before: {', '.join(open_tasks)}." if open_tasks else ""
    worse = [
        f"{task} ({kind})"
        for task in tasks
        for kind in ("frozen", "majority")
        if (pair := pair_with(newest[STRONG + task], kind)) and pair["high"] < 0
    ]
    few = [task for task in tasks if len(newest[STRONG + task]["seeds"]) < wanted_seeds(newest[STRONG + task])]
    outcome = "met" if after - before >= TARGET else "missed"
    met = f"not decided, {outcome} so far" if open_tasks or few else outcome
    return [
        f"- Average of {', '.join(AVERAGED)}: {before:.1f} before, {after:.1f} after, {after - before:+.1f} (target: {TARGET:+.0f}, {met}).{unchanged}",
        f"- Below a baseline by more than the interval, of the tasks in this table: {', '.join(worse) or 'none'} (target: none).",
        f"- Fewer seeds than intended (5 below {FEW_ROWS:,} train rows, else 3): {', '.join(few) or 'none'}.",
    ]


def wanted_seeds(row: dict[str, Any]) -> int:
    return 5 if row["rows"]["train"] < FEW_ROWS else 3


def glue(rows: Records) -> str:
    """One row per task, from its newest record."""
    newest = {row["name"]: row for row in rows}
    found = [newest[name] for name in ORDER if name in newest]
    return "\n".join(
        [
            "Command: `python benchmarks/glue.py DATA [names]`, with DATA a folder of tasks ([Tasks](../tasks.md)). The first token with recipe `finetune` as it was at the recorded commit (embeddings frozen), evaluated "
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


def baselines_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Older records have them under another name."""
    return row["baselines"] if "baselines" in row else row["rungs"]


def best_baseline(row: dict[str, Any]) -> str:
    return str(row["best_baseline"] if "best_baseline" in row else row["best_rung"])


def glue_line(row: dict[str, Any], kinds: Sequence[str]) -> str:
    baselines = {baseline["kind"]: f"{100 * baseline['value']:.1f}" for baseline in baselines_of(row)}
    metrics = {name: statistics.mean(scores[name] for scores in row["scores"]) for name in row["scores"][0]}
    metrics |= {name: statistics.mean(parts[name] for parts in row["parts"]) for name in row["parts"][0]}
    pair = next(pair for pair in row["pairs"] if pair["b"] == best_baseline(row))
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
    newest = {row["name"]: row for row in records.read("glue") if not row["name"].startswith(STRONG)}
    pairs = [next(pair for pair in row["pairs"] if pair["b"] == best_baseline(row)) for row in newest.values()]
    better, worse = sum(pair["low"] > 0 for pair in pairs), sum(pair["high"] < 0 for pair in pairs)
    return f"Fine-tuning is better than the best simple baseline in {better} of {len(pairs)} settings, worse in {worse}; no difference is shown in {len(pairs) - better - worse}."


SECTIONS = (
    Section("glue", "Before and after", before_and_after),
    Section("glue", "Fine-tuning and baselines", glue),
)
PAGE = Page("glue", "GLUE and SQuAD", "Tasks", headline, SECTIONS)
