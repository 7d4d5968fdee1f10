"""Renders the page on the demo."""

import statistics
from collections.abc import Sequence

import records
from results_page import Page, Records, Section


def demo(rows: Records) -> str:
    rows = latest(rows)
    goals = "\n".join(f"- {line}" for line in demo_goals(rows))
    return f"Command: `python benchmarks/demo.py {len(rows)}` (`make demo` with seeds 0 to {len(rows) - 1}; seeds without a wall time reused finished stages).\n\n{demo_table(rows)}\n\n{goals}"


def demo_table(rows: Records) -> str:
    """One row per stage: mean ± standard deviation over the seeds."""
    if not rows:
        return "No record yet: run `python benchmarks/demo.py`."
    count = len(rows[0]["stages"])
    lines = [stage_line([row["stages"][place] for row in rows], rows) for place in range(count)]
    base = spread([row["baseline"]["score"] for row in rows], "{:.1%}")
    reference = [row["reference"] for row in rows]
    head = [
        "| model | accuracy | accuracy kept | MB | smaller | texts/s | faster | p50 ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    plain = f"| teacher in transformers, eager, fp32 | | | | 1× | {spread([r['throughput'] for r in reference], '{:.0f}')} | 1× | {spread([r['latency_ms']['p50'] for r in reference], '{:.1f}')} |"
    return "\n".join(
        [
            *head,
            f"| {rows[0]['baseline']['name']} | {base} | | | | | | |",
            plain,
            *lines,
            "",
            f"Test split, mean ± standard deviation over {len(rows)} seeds.",
        ]
    )


def stage_line(stages: Records, rows: Records) -> str:
    score_shares = [stage["score"] / row["stages"][0]["score"] for stage, row in zip(stages, rows, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(stages, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(stages, rows, strict=True)]
    cells = [
        stages[0]["name"],
        spread([s["score"] for s in stages], "{:.1%}"),
        spread(score_shares, "{:.1%}"),
        spread([s["bytes"] / 1e6 for s in stages], "{:.1f}"),
        spread(smaller, "{:.1f}×"),
        spread([s["throughput"] for s in stages], "{:.0f}"),
        spread(faster, "{:.1f}×"),
        spread([s["latency_ms"]["p50"] for s in stages], "{:.1f}"),
    ]
    return "| " + " | ".join(cells) + " |"


def demo_goals(rows: Records) -> list[str]:
    """Each target with the measured value."""
    teacher = [row["stages"][0]["score"] for row in rows]
    last = [row["stages"][-1] for row in rows]
    score_shares = [stage["score"] / score for stage, score in zip(last, teacher, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(last, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(last, rows, strict=True)]
    return [
        f"Wall time after set-up, {sum(row['seconds'] is not None for row in rows)} of {len(rows)} runs: {spread([row['seconds'] for row in rows if row['seconds']], '{:.0f} s')} (limit: 480 s; target: 240 s).",
        *over_baselines(teacher, rows),
        f"The last stage keeps {spread(score_shares, '{:.1%}')} of the teacher's accuracy (target: 97 %), worst seed {min(score_shares):.1%}.",
        f"It is {spread(smaller, '{:.1f}×')} smaller on disk (target: 6×).",
        f"It runs at {spread(faster, '{:.1f}×')} the teacher's throughput in transformers, eager, fp32, unsorted batches of 32, including tokenization (target: 12×).",
    ]


def over_baselines(teacher: list[float], rows: Records) -> list[str]:
    """Gain of the teacher over each TF-IDF baseline."""
    lines = []
    for place, first in enumerate(rows[0]["baselines"]):
        over = [100 * (score - row["baselines"][place]["score"]) for score, row in zip(teacher, rows, strict=True)]
        lines.append(
            f"Gain of the teacher over {first['name']} ({first['score']:.1%}): {spread(over, '{:.1f}')} points."
        )
    return lines


def latest(rows: Records) -> Records:
    """The newest record of each seed, from the newest commit only: a table never mixes two versions of the code."""
    newest = {row["seed"]: row for row in rows if row["commit"] == rows[-1]["commit"]}
    return [newest[seed] for seed in sorted(newest)]


def spread(values: Sequence[float], form: str) -> str:
    mean = form.format(statistics.mean(values))
    around = form.format(statistics.stdev(values)) if len(values) > 1 else form.format(0)
    return mean if around == form.format(0) else f"{mean} ± {around}"


def headline() -> str:
    rows = latest(records.read("demo"))
    first, last = ([row["stages"][place] for row in rows] for place in (0, -1))
    score = statistics.mean(new["score"] / old["score"] for old, new in zip(first, last, strict=True))
    size = statistics.mean(old["bytes"] / new["bytes"] for old, new in zip(first, last, strict=True))
    speed = statistics.mean(
        new["throughput"] / row["reference"]["throughput"] for row, new in zip(rows, last, strict=True)
    )
    return f"`{last[0]['name']}` keeps {score:.1%} of the teacher's accuracy, is {size:.1f}× smaller and {speed:.0f}× faster than the teacher in transformers ({len(rows)} seeds)."


def teacher_settings(rows: Records) -> str:
    """Validation accuracy and processor time of each setting that was tried for the teacher."""
    lines = [
        f"| {name} | {spread([row['validation'] for row in found], '{:.1%}')} | {spread([row['spent']['cpu_seconds'] for row in found], '{:.0f}')} | {len(found)} |"
        for name, found in {
            row["settings"]: [one for one in rows if one["settings"] == row["settings"]] for row in rows
        }.items()
    ]
    note = (
        "Command: `python benchmarks/demo_teacher.py .`, whose source lists the settings. `before` is the recipe as it is. Accuracy on validation rows: settings are chosen "
        "without the test rows. Processor seconds of one thread, on a machine with other work."
    )
    return "\n".join([note, "", "| settings | validation accuracy | CPU s | seeds |", "|---|---|---|---|", *lines])


PAGE = Page(
    "demo",
    "Demo",
    "Overview",
    headline,
    (Section("demo", "Demo", demo), Section("demo_teacher", "Settings of the teacher", teacher_settings)),
)
