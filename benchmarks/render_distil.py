"""The sections on distillation: students beside their teachers, what each part of the recipe is worth, TextBrewer."""

import statistics
from collections import defaultdict
from typing import Any

Records = list[dict[str, Any]]
NAMES = {
    "rotten_tomatoes": "Rotten Tomatoes", "mrpc": "MRPC", "cola": "CoLA", "rte": "RTE", "stsb": "STS-B", "sst2": "SST-2",
}  # fmt: skip
WORDS = {
    "half": "all of it", "half-labels": "labels alone, no teacher", "half-logits": "answers alone, no layers", "half-no-embedding": "without the embedding loss",
    "half-no-hidden": "without the hidden-state loss", "half-no-attention": "without the attention loss", "half-fresh": "fresh weights instead of a slice",
    "half-no-transfer": "without the unlabelled texts", "half-no-copies": "without the copies with words replaced", "half-rows-only": "without both",
}  # fmt: skip
KEEP = {"half": 0.97, "fast": 0.93}


def distil(rows: Records) -> str:
    """The newest record of each variant, task and seed."""
    newest = {(row["variant"], row["task"], row["seed"]): row for row in rows}
    found: dict[str, dict[str, Records]] = defaultdict(lambda: defaultdict(list))
    for (variant, task, _), row in sorted(newest.items()):
        found[variant][task].append(row)
    parts = [
        "Command: `python benchmarks/distil.py DATA` (after `benchmarks/glue.py` and `benchmarks/demo.py`, which make the teachers). Teacher MiniLM-L6; TinyBERT's two phases: "
        "layers, then answers. Scores × 100, mean ± standard deviation over the seeds; kept is the student's share of its own teacher's score; faster is throughput, text in to answer "
        "out, both in ONNX Runtime fp32 on the same texts in turns.",
        *(table(variant, found[variant]) for variant in KEEP if found[variant]),
        ablation(found),
    ]
    return "\n\n".join(part for part in parts if part)


def table(variant: str, by_task: dict[str, Records]) -> str:
    lines = [line(NAMES[task], by_task[task]) for task in NAMES if task in by_task]
    every = next(iter(by_task.values()))[0]
    share = every["encoder"][1] / every["encoder"][0]
    title = f"**{variant}**: {share:.0%} of the encoder's parameters, {every['flops'][1] / every['flops'][0]:.0%} of the FLOPs."
    missing = [NAMES[task] for task in NAMES if task not in by_task]
    means = [statistics.mean(statistics.mean(row["scores"][who] for row in some) for some in by_task.values()) for who in ("teacher", "student")]  # fmt: skip
    faster = statistics.geometric_mean([row["faster"]["value"] for some in by_task.values() for row in some])
    asked = f"asked: {KEEP[variant]:.0%}" + (", 9.4 × faster" if variant == "fast" else "")
    goal = (
        f"Average {100 * means[0]:.1f} → {100 * means[1]:.1f}: {means[1] / means[0]:.1%} kept, {faster:.1f} × faster ({asked})."
        if not missing
        else f"No average yet: {', '.join(missing)} not measured."
    )
    head = "| set | seeds | teacher | student | kept | faster | MB |\n|---|---|---|---|---|---|---|"
    return "\n".join([title, "", head, *lines, "", goal])


def line(name: str, rows: Records) -> str:
    kept = [row["scores"]["student"] / row["scores"]["teacher"] for row in rows]
    cells = [
        name, str(len(rows)), *(spread([100 * row["scores"][who] for row in rows]) for who in ("teacher", "student")), spread([100 * value for value in kept]) + " %",
        spread([row["faster"]["value"] for row in rows]) + " ×", f"{rows[0]['bytes'][0] / 1e6:.0f} → {rows[0]['bytes'][1] / 1e6:.0f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def ablation(found: dict[str, dict[str, Records]]) -> str:
    tasks = ("rotten_tomatoes", "mrpc")
    if not any(found[variant] for variant in WORDS if variant != "half"):
        return ""
    lines = []
    for variant, words in WORDS.items():
        cells = [
            f"{spread([100 * row['scores']['student'] for row in found[variant][task]])} ({len(found[variant][task])})" if found[variant].get(task) else "not measured"
            for task in tasks
        ]  # fmt: skip
        lines.append(f"| {words} | {' | '.join(cells)} |")
    head = f"| the student `half` | {' | '.join(NAMES[task] for task in tasks)} |\n|---|---|---|"
    return "\n".join(["What each part is worth: score × 100 (seeds).", "", head, *lines])


def textbrewer(rows: Records) -> str:
    newest = {row["seed"]: row for row in rows}
    found = [newest[seed] for seed in sorted(newest)]
    lines = [
        f"| {name} | {spread([100 * row[name]['accuracy'] for row in found])} | {spread([row[name]['seconds'] for row in found])} |"
        for name in ("niwaki", "textbrewer")
    ]
    ratio = statistics.geometric_mean([row["textbrewer"]["seconds"] / row["niwaki"]["seconds"] for row in found])
    return "\n".join(
        [
            f"Command: `python benchmarks/against_textbrewer.py`. The same teacher ({spread([100 * row['teacher'] for row in found])} %), start, rows, {found[0]['epochs']:g} epochs, batches of 32 "
            "and losses (hidden states, attention, soft targets) on Rotten Tomatoes, on all cores, one after the other. niwaki's time includes the teacher's pass, export and scoring, "
            "with nothing kept from before; TextBrewer's is that of training alone.",
            "",
            "| | accuracy % | seconds |",
            "|---|---|---|",
            *lines,
            "",
            f"niwaki is {ratio:.1f} × faster ({len(found)} seed{'s' if len(found) > 1 else ''}; asked: equal or better in half the time).",
        ]
    )


def spread(values: list[float]) -> str:
    mean = f"{statistics.mean(values):.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean
