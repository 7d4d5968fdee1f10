"""Renders the page on few-shot training next to SetFit."""

import numpy as np
import records
from results_page import Page, Record, Records, Section


def latest(rows: Records) -> Records:
    """The newest record of each dataset and seed."""
    return list({(row["dataset"], row["seed"]): row for row in rows}.values())


def few_shot(rows: Records) -> str:
    found = latest(rows)
    return "\n".join(
        [
            "Command: `python benchmarks/few_shot.py DATA SETFIT_PYTHON FOLDER`. Recipe `few_shot` and SetFit 1.2 (defaults, own environment) on the same 8 examples per label and the same all-MiniLM-L6-v2 "
            "weights, in turns on 2 cores. Accuracy on test rows, mean ± standard deviation over samples of examples. Time from loading the encoder to the saved model; niwaki's includes ONNX export and 8-bit weights.",
            "",
            "| dataset | labels | samples | frozen features | niwaki, tuned | niwaki, int8 | SetFit | niwaki, s (CPU s) | SetFit, s (CPU s) | ratio of CPU time | exported answers equal to trained (float, int8) |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
            *(
                line(name, [row for row in found if row["dataset"] == name])
                for name in dict.fromkeys(row["dataset"] for row in found)
            ),
        ]
    )


def line(name: str, rows: Records) -> str:
    scores = {stage: [row["niwaki"]["scores"][stage] for row in rows] for stage in ("frozen", "tuned", "tuned-int8")}
    scores["setfit"] = [row["setfit"]["score"] for row in rows]
    same = [np.mean([row["niwaki"]["same_as_trained"][stage] for row in rows]) for stage in ("tuned", "tuned-int8")]
    cells = [
        name,
        str(rows[0]["labels"]),
        str(len(rows)),
        *(f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}" for values in scores.values()),
        *(f"{mean(rows, who, 'seconds'):.0f} ({mean(rows, who, 'cpu_seconds'):.0f})" for who in ("niwaki", "setfit")),
        f"{mean(rows, 'setfit', 'cpu_seconds') / mean(rows, 'niwaki', 'cpu_seconds'):.1f}×",
        ", ".join(f"{share:.1%}" for share in same),
    ]
    return f"| {' | '.join(cells)} |"


def mean(rows: Records, who: str, what: str) -> float:
    return float(np.mean([row[who][what] for row in rows]))


def headline() -> str:
    rows: list[Record] = latest(records.read("few_shot"))
    if not rows:
        return ""
    ratio = mean(rows, "setfit", "cpu_seconds") / mean(rows, "niwaki", "cpu_seconds")
    ours = 100 * np.mean([row["niwaki"]["scores"]["tuned-int8"] for row in rows])
    theirs = 100 * np.mean([row["setfit"]["score"] for row in rows])
    return f"8 examples per label: {ours:.1f} in 8 bits, SetFit {theirs:.1f} with {ratio:.1f} times the CPU time (mean accuracy)"


SECTIONS = (Section("few_shot", "Few-shot training next to SetFit", few_shot),)
if records.read("few_shot"):  # the page exists from the first record on
    PAGE = Page("few_shot", "Few-shot training", "Tasks", headline, SECTIONS)
