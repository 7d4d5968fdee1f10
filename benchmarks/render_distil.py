"""The sections on distillation: students beside their teachers and their opponents, what each part of the recipe is worth, TextBrewer."""

import statistics
from collections import defaultdict
from typing import Any

Records = list[dict[str, Any]]
NAMES = {
    "rotten_tomatoes": "Rotten Tomatoes",
    "mrpc": "MRPC",
    "cola": "CoLA",
    "rte": "RTE",
    "stsb": "STS-B",
    "sst2": "SST-2",
}
WORDS = {
    "half": "all of it",
    "half-labels": "labels alone, no teacher",
    "half-logits": "answers alone, no layers",
    "half-no-embedding": "without the embedding loss",
    "half-no-hidden": "without the hidden-state loss",
    "half-no-attention": "without the attention loss",
    "half-fresh": "fresh weights instead of a slice",
    "half-no-transfer": "without the unlabelled texts",
    "half-no-copies": "without the copies with words replaced",
    "half-rows-only": "without both",
}
UNUSED = {("half-no-transfer", "mrpc"): "it had none", ("half-rows-only", "mrpc"): "as without copies"}
KEEP = {"half": 0.97, "fast": 0.93, "thin": 0.93}
NETWORKS = {"bilstm": "BiLSTM", "averaging": "averaging"}
FOURS = {
    "mpnet4": "4 layers of 312",
    "mpnet4-vocabulary": "4 layers of 384, only the pieces that its texts use",
    "mpnet4-narrow": "4 layers of 768, those pieces in a table of 320",
    "mpnet4-narrower": "the same with a table of 256",
    "mpnet4-texts": "with a table of 320, also on 15,000 longer phrases of its other train rows, unlabelled",
    "mpnet4-more": "the same, its answers also on 20,000 unlabelled sentences of IMDb",
}
ASKED = {"kept": 0.968, "smaller": 7.5, "faster": 9.4}  # TinyBERT's


def distil(rows: Records) -> str:
    """The newest record of each variant, task and seed."""
    newest = {(row["variant"], row["task"], row["seed"]): row for row in rows}
    found: dict[str, dict[str, Records]] = defaultdict(lambda: defaultdict(list))
    for (variant, task, _), row in sorted(newest.items()):
        found[variant][task].append(row)
    parts = [
        "Command: `python benchmarks/distil.py DATA` (after `benchmarks/glue.py` and `benchmarks/demo.py`, which make the teachers). Teacher MiniLM-L6; TinyBERT's two phases: "
        "layers, then answers. Scores × 100, mean ± standard deviation over the seeds; kept is the student's share of its own teacher's score; faster is throughput, text in to answer "
        "out, both in ONNX Runtime fp32 on the same texts in turns, since November 17 on one core.",
        *(table(variant, found[variant]) for variant in KEEP if found[variant]),
        ablation(found),
        sizes(found),
        networks(found),
        fours(found),
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
    asked = f"asked: {KEEP[variant]:.0%}" + (", 9.4 × faster" if variant != "half" else "")
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
        name,
        str(len(rows)),
        *(spread([100 * row["scores"][who] for row in rows]) for who in ("teacher", "student")),
        spread([100 * value for value in kept]) + " %",
        spread([row["faster"]["value"] for row in rows]) + " ×",
        f"{rows[0]['bytes'][0] / 1e6:.0f} → {rows[0]['bytes'][1] / 1e6:.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def ablation(found: dict[str, dict[str, Records]]) -> str:
    tasks = ("rotten_tomatoes", "mrpc")
    if not any(found[variant] for variant in WORDS if variant != "half"):
        return ""
    lines = [
        f"| {words} | {' | '.join(part(found[variant].get(task, []), UNUSED.get((variant, task), '')) for task in tasks)} |"
        for variant, words in WORDS.items()
    ]
    head = f"| the student `half` | {' | '.join(f'{NAMES[task]} | over all of it' for task in tasks)} |\n|---|---|---|---|---|"
    said = (
        "What each part is worth: score × 100, mean ± standard deviation, and in brackets the number of seeds; beside it what that is over all of it with the same seeds, with 95 % intervals, paired over test "
        "rows and seeds."
    )
    return "\n".join([said, "", head, *lines])


def part(rows: Records, unused: str) -> str:
    """Its score, and the paired difference over the most seeds; two cells."""
    if unused or not rows:
        return f"{unused or 'not measured'} | "
    score = f"{spread([100 * row['scores']['student'] for row in rows])} ({len(rows)})"
    pairs = [row["pairs"]["half"] for row in rows if "half" in row.get("pairs", {})]
    if not pairs:
        return f"{score} | "
    most = max(pairs, key=lambda pair: pair["seeds"])
    return f"{score} | {gap(most)}{fewer(most['seeds'], len(rows))}"


def sizes(found: dict[str, dict[str, Records]]) -> str:
    """Size of the transfer set against what it gains."""
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
    said = (
        f"Rotten Tomatoes, the student `half`, answers alone, seed 0: its own rows and so many unlabelled sentences of IMDb. Every size trains the same number of steps ({steps} of 32 texts), "
        "so the gain is that of other texts and not of more training. Accuracy × 100 with 95 % intervals; gain is the paired difference to no unlabelled text."
    )
    head = "| unlabelled texts | accuracy | kept of the teacher's | gain |\n|---|---|---|---|"
    return "\n".join(["### What unlabelled texts gain", "", said, "", head, *lines])


def networks(found: dict[str, dict[str, Records]]) -> str:
    """Students that are no transformers, and the same networks without the teacher."""
    shown = [(kind, task, found[kind][task]) for kind in NETWORKS for task in NAMES if task in found[kind]]
    if not shown:
        return ""
    pairs = [
        max((row["pairs"] for row in rows), key=lambda pair: pair[f"{kind}-labels"]["seeds"]) for kind, _, rows in shown
    ]
    lines = []
    for (kind, task, rows), pair in zip(shown, pairs, strict=True):
        opponents = (f"{kind}-labels", f"{kind}-vectors")
        scores = [
            [[row["pairs"][who]["score"][key] for key in ("value", "low", "high")] for row in rows] for who in opponents
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
            + " | ".join([*cells, *(gap(pair[who]) + fewer(pair[who]["seeds"], len(rows)) for who in opponents)])
            + " |"
        )
    met = sum(pair[f"{kind}-labels"]["low"] > 0 for (kind, _, _), pair in zip(shown, pairs, strict=True))
    said = (
        "The same network with as many epochs: on labels alone with vectors of the pretrained model (no teacher anywhere), on labels alone with vectors of the fine-tuned teacher (the harder opponent), "
        "and taught by the teacher's answers, also on unlabelled sentences of IMDb, which make its epochs longer. Accuracy × 100 with 95 % intervals over the test rows, means over the seeds; differences are "
        "paired, over test rows and seeds."
    )
    head = "| network, set | seeds | teacher | labels alone | labels, teacher's vectors | taught | over labels alone | over labels, teacher's vectors |\n|---|---|---|---|---|---|---|---|"
    goal = f"Over labels alone by a margin outside the interval: {met} of {len(shown)} (asked: all four)."
    return "\n".join(["### Networks without layers", "", said, "", head, *lines, "", goal])


def fours(found: dict[str, dict[str, Records]]) -> str:
    """TinyBERT's ratios, asked and found."""
    shown = [(variant, task, found[variant][task][0]) for variant in FOURS for task in NAMES if task in found[variant]]
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
        cells = [f"{NAMES[task]}, {FOURS[variant]}", *scores, *(beside(ratios[key], ASKED[key]) for key in ASKED)]
        lines.append("| " + " | ".join(cells) + " |")
    said = (
        "Teacher mpnet-base (SST-2: 20,000 of the train rows, for both), student cut out of it, TinyBERT's two phases, seed 0. Scores × 100 with 95 % intervals over the test rows; smaller is bytes of the "
        "model's folder, both fp32; faster is throughput in ONNX Runtime fp32, in turns. Asked are TinyBERT's ratios: 96.8 % kept, 7.5 × smaller, 9.4 × faster."
    )
    head = "| set, student | teacher | student | kept | smaller | faster |\n|---|---|---|---|---|---|"
    return "\n".join(["### mpnet in four layers", "", said, "", head, *lines])


def beside(value: float, asked: float) -> str:
    """A ratio, and whether it is what was asked; where not, how far it is away. Shares are below 1."""
    share = asked < 1
    form = "{:.1f} %" if share else "{:.1f} ×"
    shown, wanted = (round(100 * one, 1) if share else round(one, 1) for one in (value, asked))
    verdict = "met" if value >= asked else f"{form.format(wanted - shown)[:-2]}{' points' if share else ' ×'} short"
    return f"{form.format(shown)}: {verdict}"


def interval(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def gap(pair: dict[str, Any]) -> str:
    """A paired difference in points, and whether it is one."""
    said = f"{100 * pair['difference']:+.1f} ({100 * pair['low']:+.1f} to {100 * pair['high']:+.1f})"
    return said if pair["shown"] else f"{said}: no difference shown"


def fewer(paired: int, seeds: int) -> str:
    """Where a difference is not over all seeds: the stages of the others were made elsewhere, and only their scores are known."""
    return "" if paired == seeds else f" ({paired} of the seeds)"


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
