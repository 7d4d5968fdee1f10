"""Renders the page on compression: methods alone and combined, orders, speed, lottery tickets, random combinations."""

import statistics
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import records
from method_names import current
from render_distil import NAMES, gap, spread
from results_page import Page, Section

Record = dict[str, Any]
Records = list[Record]
Found = dict[tuple[str, str], Records]  # by name and task
HEADS = {
    "stack": "Combinations, each on the distilled student `half`",
    "tiny": "A student without attention",
    "speed": "Half of the encoder's operations, and unstructured sparsity in a file of the same size",
    "order": "Order of distillation (half the layers), pruning (half the neurons, a third of the heads) and quantization-aware training (8 bits)",
    "alone": "Single methods, on the teacher",
}
SIZES = ((20, 0.97), (50, 0.93))  # times smaller, share of the score
FASTER, MIN_SCORE_SHARE, FLOPS = (
    1.7,
    0.98,
    0.505,
)  # targets of structured pruning; the numbers of remaining heads and neurons are rounded


def stack(rows: Records) -> str:
    found = newest_of(rows)
    parts = [
        "Command: `python benchmarks/stack.py DATA` (after `benchmarks/distil.py`). Teacher MiniLM-L6. Scores × 100, mean ± standard deviation over the seeds. Kept: share "
        "of the teacher's score. MB and smaller: the weights file, compared with the teacher's in fp32. Folder: the same ratio including tokenizer, graph and configs. FLOPs: share of the teacher's FLOPs in the deployed forward pass. "
        "Faster: ratio of throughput including tokenization, both in ONNX Runtime on one core, interleaved. Wh: estimated energy of all stages after the teacher. On SST-2 all stages train a third of the epochs.",
        goals(found),
        *(section(kind, title, found[kind]) for kind, title in HEADS.items() if found[kind]),
    ]
    return "\n\n".join(part for part in parts if part)


def newest_of(rows: Records) -> dict[str, Found]:
    """The newest record of each kind, name, task and seed, by kind."""
    newest = {(row["kind"], current(row["name"]), row["task"], row["seed"]): row for row in rows}
    found: dict[str, Found] = defaultdict(lambda: defaultdict(list))
    for key in sorted(newest, key=lambda key: list(map(str, key))):
        found[key[0]][key[1], key[2]].append(newest[key])
    return found


def section(kind: str, title: str, found: Found) -> str:
    after = {"order": orders, "speed": speed_note}.get(kind, lambda _: "")(found)
    return "\n\n".join(part for part in (f"### {title}", table(found), after) if part)


def table(found: Found) -> str:
    head = "| methods | task | seeds | score | kept | MB | smaller | folder | FLOPs | faster | p50 ms | Wh |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    ordered = sorted(found.items(), key=lambda item: (list(NAMES).index(item[0][1]), -mean(smaller, item[1])))
    return "\n".join([head, *(line(name, task, rows) for (name, task), rows in ordered)])


def line(name: str, task: str, rows: Records) -> str:
    cells = [
        f"`{name}`",
        NAMES[task],
        str(len(rows)),
        spread([100 * row["scores"][1] for row in rows]),
        spread([100 * score_share(row) for row in rows]) + " %",
        f"{mean(lambda row: row['weights'][1], rows) / 1e6:.2f}",
        f"{mean(smaller, rows):.1f} ×",
        f"{mean(folder, rows):.1f} ×",
        f"{mean(flops, rows):.0%}",
        spread([row["faster"]["value"] for row in rows]) + " ×",
        f"{mean(lambda row: row['latency_ms'][1], rows):.1f}",
        f"{mean(joules, rows) / 3600:.2f}",
    ]
    return "| " + " | ".join(cells) + " |"


def goals(found: dict[str, Found]) -> str:
    """The targets, and the best measured result per task."""
    every = {key: rows for kind in ("stack", "tiny") for key, rows in found[kind].items()}
    lines = []
    for times, share in SIZES:
        for words, ratio in (("weights file", smaller), ("whole folder", folder)):
            best = [best_of(every, task, ratio, times) for task in NAMES if any(key[1] == task for key in every)]
            lines.append(
                f"- {times} × smaller ({words}) with at least {share:.0%} of the score: "
                + "; ".join(best_line(result, ratio, times, share) for result in best)
                + "."
            )
    halves = {key: rows for key, rows in found["speed"].items() if mean(flops, rows) <= FLOPS}
    for (name, task), rows in halves.items():
        met = mean(faster, rows) >= FASTER and mean(score_share, rows) >= MIN_SCORE_SHARE
        lines.append(
            f"- Half of the encoder's operations ({mean(flops, rows):.1%} of all), {FASTER} × the throughput at {MIN_SCORE_SHARE:.0%} of the score: `{name}` on {NAMES[task]} {mean(faster, rows):.2f} × at {mean(score_share, rows):.1%} "
            f"({seeds(rows)}): {'met' if met else 'not met'}."
        )
    return "\n".join(["Targets and best results:", "", *lines])


def best_of(every: Found, task: str, ratio: Callable[[Record], float], times: float) -> tuple[str, str, Records]:
    """Name, task and records of the best score among those small enough; no records if there is none."""
    enough = {key: rows for key, rows in every.items() if key[1] == task and mean(ratio, rows) >= times}
    name, rows = max(
        ((key[0], rows) for key, rows in enough.items()), key=lambda one: mean(score_share, one[1]), default=("", [])
    )
    return name, task, rows


def best_line(best: tuple[str, str, Records], ratio: Callable[[Record], float], times: float, share: float) -> str:
    name, task, rows = best
    if not rows:
        return f"{NAMES[task]}: no result is {times} × smaller"
    value = mean(score_share, rows)
    verdict = "met" if value >= share else f"{100 * (share - value):.1f} points short"
    return f"{NAMES[task]} `{name}` keeps {value:.1%} at {mean(ratio, rows):.1f} × ({seeds(rows)}): {verdict}"


def orders(found: Found) -> str:
    """Paired differences of each order to the first."""
    lines = []
    for task in dict.fromkeys(task for _, task in found):
        some = {name: rows for (name, other), rows in found.items() if other == task}
        first = next(iter(sorted(some, key=lambda name: name.split("-"))), "")
        best = max(some, key=lambda name: mean(lambda row: row["scores"][1], some[name]))
        pairs = {name: max(rows, key=lambda row: row["seed"]) for name, rows in some.items()}
        differences = [f"`{name}` {gap(row['over_first'])}" for name, row in pairs.items() if name != first]
        shown = [name for name, row in pairs.items() if name != first and row["over_first"]["shown"]]
        lines.append(
            f"{NAMES[task]}, difference to `{first}` in points with 95 % intervals, paired over test rows and seeds: {', '.join(differences)}. `{best}` has the best mean ({len(some)} of 6 orders "
            f"measured); significant differences: {', '.join(f'`{name}`' for name in shown) or 'none'}."
        )
    return "\n\n".join(lines)


def speed_note(found: Found) -> str:
    """Unstructured sparsity compared with pruned heads and neurons at equal file size."""
    lines = []
    for task in dict.fromkeys(task for _, task in found):
        if not {("magnitude", task), ("ffn+heads", task)} <= set(found):
            continue
        sparse, cut = found["magnitude", task], found["ffn+heads", task]
        lines.append(
            f"{NAMES[task]}, at equal file size ({mean(smaller, sparse):.2f} × and {mean(smaller, cut):.2f} × smaller): unstructured sparsity keeps {mean(score_share, sparse):.1%} and runs at {mean(faster, sparse):.2f} × "
            f"the teacher's throughput; pruned heads and neurons keep {mean(score_share, cut):.1%} at {mean(faster, cut):.2f} ×. Zeros are multiplied like other numbers: **sparse matrices are not faster here**."
        )
    return "\n\n".join(lines)


def lottery(rows: Records) -> str:
    newest = {(row["rewind"], row["percent"], row["task"], row["seed"]): row for row in rows}
    found: dict[tuple[str, int, str], Records] = defaultdict(list)
    for key in sorted(newest):
        found[key[:3]].append(newest[key])
    rewinding = {"early": "rewound to early training", "none": "as trained"}
    lines = []
    for (rewind, percent, task), some in found.items():
        scores = [spread([100 * row["scores"][who] for row in some]) for who in ("dense", "ticket", "chance")]
        cells = [
            NAMES[task],
            rewinding[rewind],
            f"{percent} %",
            str(len(some)),
            *scores,
            *("; ".join(gap(row[pair]) for row in some) for pair in ("over_chance", "over_dense")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    shown = sum(all(row["over_chance"]["low"] > 0 for row in some) for some in found.values())
    return "\n".join(
        [
            "Command: `python benchmarks/lottery.py DATA`. MiniLM-L6, embeddings frozen, one epoch per round; rounds at 50, 70 and 90 % sparsity of the encoder. A ticket keeps the largest weights after the previous "
            "round; a random ticket has as many random weights per matrix and as many rounds. Scores × 100; differences are paired over the test rows, per seed, with 95 % intervals.",
            "",
            "| task | weights | sparsity | seeds | dense | ticket | random ticket | ticket − random | ticket − dense |\n|---|---|---|---|---|---|---|---|---|",
            *lines,
            "",
            f"The ticket is significantly better than the random one in {shown} of {len(found)} settings.",
        ]
    )


def score_share(row: Record) -> float:
    return row["scores"][1] / row["scores"][0]


def smaller(row: Record) -> float:
    return row["weights"][0] / row["weights"][1]


def folder(row: Record) -> float:
    return row["bytes"][0] / row["bytes"][1]


def flops(row: Record) -> float:
    return row["flops"][1] / row["flops"][0]


def faster(row: Record) -> float:
    return row["faster"]["value"]


def joules(row: Record) -> float:
    return sum(one["joules"] or 0 for one in row["spent"])


def seeds(rows: Records) -> str:
    return f"{len(rows)} seed{'s' if len(rows) > 1 else ''}"


def mean(what: Callable[[Record], float], rows: Records) -> float:
    return statistics.mean(what(row) for row in rows)


def chains(rows: Records) -> str:
    last = rows[-1]
    labels = {
        "made": "completed",
        "refused": "rejected before any work",
        "refused at its stage": "rejected at their stage",
    }
    counts = ", ".join(f"{count} {labels.get(name, name)}" for name, count in sorted(last["outcomes"].items()))
    methods = ", ".join(f"{current(name)} {count}" for name, count in last["methods"].items())
    return (
        f"Command: `python benchmarks/chains.py --chains {last['chains']}`. Random combinations of 2 to 4 methods with random settings on a tiny model, seed {last['seed']}: {counts}. Completed models "
        f"were loaded by a new process and gave equal outputs in torch and in the engine, unless counted as different. Methods in completed combinations: {methods}."
    )


def headline() -> str:
    """The first two targets of the page, on the task with the most seeds."""
    found = newest_of(records.read("stack"))
    every = {key: rows for kind in ("stack", "tiny") for key, rows in found[kind].items()}
    best = [best_of(every, "rotten_tomatoes", smaller, times) for times, _ in SIZES]
    kept = [
        f"{mean(score_share, rows):.1%} of the score at {mean(smaller, rows):.0f}× smaller weights" for *_, rows in best
    ]
    return f"Rotten Tomatoes, {seeds(best[0][2])}: {' and '.join(kept)}."


PAGE = Page(
    "compression",
    "Compression",
    "Compression",
    headline,
    (
        Section("stack", "Methods, alone and combined", stack),
        Section("lottery", "Lottery tickets", lottery),
        Section("chains", "Random combinations of methods", chains),
    ),
)
