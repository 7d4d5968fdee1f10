"""Renders the sections on distillation: students and teachers, ablations, students without attention, TextBrewer."""

import statistics
from collections import defaultdict
from typing import Any

import records
from results_page import Page, Section

Records = list[dict[str, Any]]
NAMES = {
    "rotten_tomatoes": "Rotten Tomatoes",
    "mrpc": "MRPC",
    "cola": "CoLA",
    "rte": "RTE",
    "stsb": "STS-B",
    "sst2": "SST-2",
}
ABLATIONS = {
    "half": "complete recipe",
    "half-labels": "labels only, no teacher",
    "half-logits": "logits only, no layer losses",
    "half-no-embedding": "without the embedding loss",
    "half-no-hidden": "without the hidden-state loss",
    "half-no-attention": "without the attention loss",
    "half-fresh": "random instead of sliced weights",
    "half-no-transfer": "without unlabelled texts",
    "half-no-copies": "without augmentations",
    "half-rows-only": "without both",
}
UNUSED = {("half-no-transfer", "mrpc"): "has none", ("half-rows-only", "mrpc"): "as without augmentations"}
KEEP = {"half": 0.97, "fast": 0.93, "thin": 0.93}
NETWORKS = {"bilstm": "BiLSTM", "averaging": "averaging"}
FOUR_LAYERS = {
    "mpnet4": "hidden size 312",
    "mpnet4-vocabulary": "hidden size 384, trimmed vocabulary",
    "mpnet4-narrow": "hidden size 768, trimmed vocabulary, embedding size 320",
    "mpnet4-narrower": "the same with embedding size 256",
    "mpnet4-texts": "embedding size 320, and 15,000 longer phrases of the unused training rows as unlabelled texts",
    "mpnet4-more": "the same, and 20,000 unlabelled IMDb sentences in the second phase",
}
TARGETS = {"kept": 0.968, "smaller": 7.5, "faster": 9.4}  # as TinyBERT


def distil(rows: Records) -> str:
    """The newest record of each variant, task and seed."""
    newest = {(row["variant"], row["task"], row["seed"]): row for row in rows}
    found: dict[str, dict[str, Records]] = defaultdict(lambda: defaultdict(list))
    for (variant, task, _), row in sorted(newest.items()):
        found[variant][task].append(row)
    parts = [
        "Command: `python benchmarks/distil.py DATA` (after `benchmarks/glue.py` and `benchmarks/demo.py`, which train the teachers). Teacher MiniLM-L6; TinyBERT's two phases: "
        "layers, then logits. Scores × 100, mean ± standard deviation over the seeds. Kept: the student's share of its teacher's score. Faster: ratio of throughput including tokenization, "
        "both in ONNX Runtime fp32 on the same texts, interleaved, on one core since November 17.",
        *(table(variant, found[variant]) for variant in KEEP if found[variant]),
        ablation(found),
        sizes(found),
        networks(found),
        four_layers(found),
    ]
    return "\n\n".join(part for part in parts if part)


def table(variant: str, by_task: dict[str, Records]) -> str:
    lines = [line(NAMES[task], by_task[task]) for task in NAMES if task in by_task]
    every = next(iter(by_task.values()))[0]
    share = every["encoder"][1] / every["encoder"][0]
    title = f"**{variant}**: {share:.0%} of the encoder's parameters, {every['flops'][1] / every['flops'][0]:.0%} of the FLOPs."
    missing = [NAMES[task] for task in NAMES if task not in by_task]
    means = [
        statistics.mean(statistics.mean(row["scores"][who] for row in some) for some in by_task.values())
        for who in ("teacher", "student")
    ]
    faster = statistics.geometric_mean([row["faster"]["value"] for some in by_task.values() for row in some])
    target = f"target: {KEEP[variant]:.0%}" + (", 9.4 × faster" if variant != "half" else "")
    goal = (
        f"Average {100 * means[0]:.1f} → {100 * means[1]:.1f}: {means[1] / means[0]:.1%} kept, {faster:.1f} × faster ({target})."
        if not missing
        else f"No average yet: {', '.join(missing)} not measured."
    )
    head = "| task | seeds | teacher | student | kept | faster | MB |\n|---|---|---|---|---|---|---|"
    return "\n".join([title, "", head, *lines, "", goal])


def line(name: str, rows: Records) -> str:
    shares = [row["scores"]["student"] / row["scores"]["teacher"] for row in rows]
    cells = [
        name,
        str(len(rows)),
        *(spread([100 * row["scores"][who] for row in rows]) for who in ("teacher", "student")),
        spread([100 * value for value in shares]) + " %",
        spread([row["faster"]["value"] for row in rows]) + " ×",
        f"{rows[0]['bytes'][0] / 1e6:.0f} → {rows[0]['bytes'][1] / 1e6:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def ablation(found: dict[str, dict[str, Records]]) -> str:
    tasks = ("rotten_tomatoes", "mrpc")
    if not any(found[variant] for variant in ABLATIONS if variant != "half"):
        return ""
    lines = [
        f"| {words} | {' | '.join(part(found[variant].get(task, []), UNUSED.get((variant, task), '')) for task in tasks)} |"
        for variant, words in ABLATIONS.items()
    ]
    head = f"| student | {' | '.join(f'{NAMES[task]} | difference' for task in tasks)} |\n|---|---|---|---|---|"
    about = (
        "The student `half` with parts of its recipe left out: score × 100, mean ± standard deviation, number of seeds in brackets; and the difference to the complete recipe with the same seeds, with "
        "its 95 % interval, paired over test rows and seeds."
    )
    return "\n".join(["### Ablation of distillation", "", about, "", head, *lines])


def part(rows: Records, unused: str) -> str:
    """Two cells: the score, and the paired difference over the largest number of seeds."""
    if unused or not rows:
        return f"{unused or 'not measured'} | "
    score = f"{spread([100 * row['scores']['student'] for row in rows])} ({len(rows)})"
    pairs = [row["pairs"]["half"] for row in rows if "half" in row.get("pairs", {})]
    if not pairs:
        return f"{score} | "
    most = max(pairs, key=lambda pair: pair["seeds"])
    return f"{score} | {gap(most)}{fewer(most['seeds'], len(rows))}"


def sizes(found: dict[str, dict[str, Records]]) -> str:
    """Number of unlabelled texts and the gain."""
    rows = {
        int(name.partition("-")[2]): by_task["rotten_tomatoes"][0]
        for name, by_task in found.items()
        if name.startswith("transfer-")
    }
    if not rows:
        return ""
    lines = [
        f"| {size:,} | {interval(row['scores']['student'], *row['intervals']['student'])} | {row['scores']['student'] / row['scores']['teacher']:.1%} | "
        f"{gap(row['pairs']['transfer-0']) if size else ''} |"
        for size, row in sorted(rows.items())
    ]
    steps = " or ".join(sorted({f"{row['steps'][0]:,}" for row in rows.values()}))
    about = (
        f"Rotten Tomatoes, student `half`, logits only, seed 0: the task's rows and unlabelled IMDb sentences. All sizes train the same number of steps ({steps} of 32 texts), "
        "so a gain comes from other texts and not from more training. Accuracy × 100 with 95 % intervals; the gain is the paired difference to no unlabelled texts."
    )
    head = "| unlabelled texts | accuracy | share of the teacher's | gain |\n|---|---|---|---|"
    return "\n".join(["### Unlabelled texts", "", about, "", head, *lines])


def networks(found: dict[str, dict[str, Records]]) -> str:
    """Students without attention, and the same networks without a teacher."""
    shown = [(kind, task, found[kind][task]) for kind in NETWORKS for task in NAMES if task in found[kind]]
    if not shown:
        return ""
    pairs = [
        max((row["pairs"] for row in rows), key=lambda pair: pair[f"{kind}-labels"]["seeds"]) for kind, _, rows in shown
    ]
    lines = []
    for (kind, task, rows), pair in zip(shown, pairs, strict=True):
        controls = (f"{kind}-labels", f"{kind}-vectors")
        scores = [
            [[row["pairs"][who]["score"][key] for key in ("value", "low", "high")] for row in rows] for who in controls
        ]
        scores.append([[row["scores"]["student"], *row["intervals"]["student"]] for row in rows])
        cells = [
            f"{NETWORKS[kind]}, {NAMES[task]}",
            str(len(rows)),
            spread([100 * row["scores"]["teacher"] for row in rows]),
        ]
        cells += [interval(*(statistics.mean(column) for column in zip(*some, strict=True))) for some in scores]
        lines.append(
            "| "
            + " | ".join([*cells, *(gap(pair[who]) + fewer(pair[who]["seeds"], len(rows)) for who in controls)])
            + " |"
        )
    met = sum(pair[f"{kind}-labels"]["low"] > 0 for (kind, _, _), pair in zip(shown, pairs, strict=True))
    about = (
        "The same network with the same number of epochs, trained in three ways: on labels with the pretrained model's vectors (no teacher), on labels with the fine-tuned teacher's vectors, and distilled from the "
        "teacher's logits, also on unlabelled IMDb sentences, which make its epochs longer. Accuracy × 100 with 95 % intervals over the test rows, means over the seeds; differences are paired over test rows and seeds."
    )
    head = "| network, task | seeds | teacher | labels | labels, teacher's vectors | distilled | gain over labels | gain over labels, teacher's vectors |\n|---|---|---|---|---|---|---|---|"
    goal = f"Significant gain over labels: {met} of {len(shown)} (target: all)."
    return "\n".join(["### Students without attention", "", about, "", head, *lines, "", goal])


def four_layers(found: dict[str, dict[str, Records]]) -> str:
    """Students of mpnet-base, compared with TinyBERT's ratios."""
    shown = [
        (variant, task, found[variant][task][0]) for variant in FOUR_LAYERS for task in NAMES if task in found[variant]
    ]
    if not shown:
        return ""
    lines = []
    for variant, task, row in shown:
        ratios = {
            "kept": row["scores"]["student"] / row["scores"]["teacher"],
            "smaller": row["bytes"][0] / row["bytes"][1],
            "faster": row["faster"]["value"],
        }
        scores = [interval(row["scores"][who], *row["intervals"][who]) for who in ("teacher", "student")]
        cells = [f"{NAMES[task]}, {FOUR_LAYERS[variant]}", *scores]
        cells += [with_target(ratios[key], target) for key, target in TARGETS.items()]
        lines.append("| " + " | ".join(cells) + " |")
    about = (
        "Teacher mpnet-base (SST-2: 20,000 of the training rows, for both), students with four of its layers, TinyBERT's two phases, seed 0. Scores × 100 with 95 % intervals over the test rows. Smaller: bytes of the "
        "model folder, both fp32. Faster: throughput in ONNX Runtime fp32, interleaved. The targets are TinyBERT's ratios: 96.8 % kept, 7.5 × smaller, 9.4 × faster."
    )
    head = "| task, student | teacher | student | kept | smaller | faster |\n|---|---|---|---|---|---|"
    return "\n".join(["### mpnet with four layers", "", about, "", head, *lines])


def with_target(value: float, target: float) -> str:
    """A ratio, and whether it meets its target or by how much it misses it. Targets below 1 are shares."""
    share = target < 1
    form = "{:.1f} %" if share else "{:.1f} ×"
    shown, rounded_target = (round(100 * number, 1) if share else round(number, 1) for number in (value, target))
    missing = f"{form.format(rounded_target - shown)[:-2]}{' points' if share else ' ×'} short"
    return f"{form.format(shown)}: {'met' if value >= target else missing}"


def interval(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def gap(pair: dict[str, Any]) -> str:
    """A paired difference in points with its interval, and a note if the interval contains 0."""
    text = f"{100 * pair['difference']:+.1f} ({100 * pair['low']:+.1f} to {100 * pair['high']:+.1f})"
    return text if pair["shown"] else f"{text}: no difference shown"


def fewer(paired: int, seeds: int) -> str:
    """A note if a difference does not cover all seeds, because only scores are known of some."""
    return "" if paired == seeds else f" ({paired} of {seeds} seeds)"


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
            f"Command: `python benchmarks/against_textbrewer.py`. The same teacher ({spread([100 * row['teacher'] for row in found])} %), initial weights, rows, {found[0]['epochs']:g} epochs, batches of 32 "
            "and losses (hidden states, attention, soft targets) on Rotten Tomatoes, on all cores, in sequence. niwaki's time includes the teacher's forward pass, export and evaluation, "
            "with an empty cache; TextBrewer's is training only.",
            "",
            "| | accuracy % | seconds |",
            "|---|---|---|",
            *lines,
            "",
            f"niwaki is {ratio:.1f} × faster ({len(found)} seed{'s' if len(found) > 1 else ''}; target: equal or better accuracy in half the time).",
        ]
    )


def spread(values: list[float]) -> str:
    mean = f"{statistics.mean(values):.1f}"
    return f"{mean} ± {statistics.stdev(values):.1f}" if len(values) > 1 else mean


def headline() -> str:
    """The average of the student `half` over all tasks, each with the mean over its seeds."""
    newest = {(row["task"], row["seed"]): row for row in records.read("distil") if row["variant"] == "half"}
    tasks = {task: [row for (other, _), row in newest.items() if other == task] for task, _ in newest}
    teacher, student = (
        statistics.mean(statistics.mean(row["scores"][who] for row in rows) for rows in tasks.values())
        for who in ("teacher", "student")
    )
    faster = statistics.geometric_mean([row["faster"]["value"] for row in newest.values()])
    return f"A student with half of the layers keeps {student / teacher:.1%} of MiniLM's average score on {len(tasks)} tasks and is {faster:.1f}× faster."


PAGE = Page(
    "distillation",
    "Distillation",
    "Compression",
    headline,
    (
        Section("distil", "Students and their teachers", distil),
        Section("textbrewer", "Compared with TextBrewer", textbrewer),
    ),
)
