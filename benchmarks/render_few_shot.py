"""Renders the page on few-shot training next to SetFit."""

import numpy as np
import records
from results_page import Page, Record, Records, Section
from scipy.stats import t as student

STAGES = ("tuned", "tuned-int8")


def latest(rows: Records) -> Records:
    """The newest record of each dataset and seed that has the settings of the newest record."""
    return list({(row["dataset"], row["seed"]): row for row in rows if settings(row) == settings(rows[-1])}.values())


def settings(row: Record) -> str:
    """The train block of the record; records before it was recorded have the same empty one."""
    return str(row["niwaki"].get("settings", ""))


def few_shot(rows: Records) -> str:
    found = latest(rows)
    threads = " or ".join(f"{count} thread{'s' * (count > 1)}" for count in sorted({row["threads"] for row in found}))
    names = list(dict.fromkeys(row["dataset"] for row in found))
    older = [f"{row['dataset']} ({row['seed']})" for row in found if "recorded" in row["setfit"]]
    reused = (
        f" SetFit's figures on {', '.join(older)} (sample) are from an earlier run on the same examples and another processor, so those ratios of times are rough."
        if older
        else ""
    )
    return "\n".join(
        [
            "Command: `python benchmarks/few_shot_data.py SHARED TREC FOLDER`, then `python benchmarks/few_shot.py DATA SETFIT_PYTHON FOLDER`. Recipe `few_shot` and SetFit 1.2 (defaults, own environment) on the same 8 examples per label and the same all-MiniLM-L6-v2 "
            f"weights, in turns, {threads} each. Accuracy on test rows, mean ± standard deviation over samples of examples; the difference has a 95 % interval from the paired samples (Student's t). CPU time from loading the encoder to the saved model; niwaki's includes ONNX export and 8-bit weights."
            + reused,
            "",
            "| dataset | labels | samples | steps × texts | niwaki, tuned | niwaki, int8 | SetFit | tuned − SetFit | niwaki, CPU s | SetFit, CPU s | ratio of CPU time | answers equal to trained: float, int8 (ONNX), int8 (native) |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
            *(line(name, [row for row in found if row["dataset"] == name]) for name in names),
        ]
    )


def line(name: str, rows: Records) -> str:
    scores = {stage: [row["niwaki"]["scores"][stage] for row in rows] for stage in STAGES}
    scores["setfit"] = [row["setfit"]["score"] for row in rows]
    cells = [
        name,
        str(rows[0]["labels"]),
        str(len(rows)),
        f"{rows[0]['niwaki']['steps']} × {rows[0]['niwaki']['settings']['batch']}",
        *(f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}" for values in scores.values()),
        paired([100 * (ours - theirs) for ours, theirs in zip(scores["tuned"], scores["setfit"], strict=True)]),
        *(f"{mean(rows, who, 'cpu_seconds'):.1f}" for who in ("niwaki", "setfit")),
        f"{mean(rows, 'setfit', 'cpu_seconds') / mean(rows, 'niwaki', 'cpu_seconds'):.1f}×",
        ", ".join(agreement(rows, stage) for stage in (*STAGES, "tuned-int8, native")),
    ]
    return f"| {' | '.join(cells)} |"


def paired(differences: list[float]) -> str:
    """The mean of paired differences with its 95 % interval; without one for a single pair."""
    center, count = float(np.mean(differences)), len(differences)
    if count < 2:
        return f"{center:+.1f}"
    half = float(student.ppf(0.975, count - 1)) * float(np.std(differences, ddof=1)) / count**0.5
    return f"{center:+.1f} ({center - half:+.1f} to {center + half:+.1f})"


def agreement(rows: Records, stage: str) -> str:
    shares = [row["niwaki"]["same_as_trained"].get(stage) for row in rows]
    return "not measured" if None in shares else f"{np.mean(shares):.1%}"


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
