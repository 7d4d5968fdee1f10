"""The sections on compression: each method alone, stacks on a student, orders, and random chains."""

import statistics
from collections import defaultdict
from typing import Any

from render_distil import NAMES, spread

Records = list[dict[str, Any]]
HEADS = {
    "stack": "Stacks, each on the distilled student `half`",
    "tiny": "A student without attention",
    "order": "Order of distilling, pruning (half the neurons, a third of the heads) and quantizing (8 bits, trained through the rounding)",
    "alone": "Each method alone, on the teacher",
}  # fmt: skip


def stack(rows: Records) -> str:
    """The newest record of each kind, name, task and seed."""
    newest = {(row["kind"], row["name"], row["task"], row["seed"]): row for row in rows}
    found: dict[str, dict[tuple[str, str], Records]] = defaultdict(lambda: defaultdict(list))
    for kind, name, task, seed in sorted(newest, key=lambda key: list(map(str, key))):
        found[kind][name, task].append(newest[kind, name, task, seed])
    parts = [
        "Command: `python benchmarks/stack.py DATA` (after `benchmarks/distil.py`). Teacher MiniLM-L6. Scores × 100, mean ± standard deviation over the seeds; kept is the share "
        "of the teacher's own score; smaller is the model's folder with tokenizer and graph against the teacher's in fp32; faster is throughput, text in to answer out, both in ONNX "
        "Runtime on the same texts in turns; Wh is what making it took from the teacher on, estimated.",
        *(f"### {title}\n\n{table(found[kind])}" for kind, title in HEADS.items() if found[kind]),
        goals([row for some in found.values() for rows in some.values() for row in rows]),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def table(found: dict[tuple[str, str], Records]) -> str:
    head = "| name | set | seeds | score | kept | MB | smaller | faster | p50 ms | Wh |\n|---|---|---|---|---|---|---|---|---|---|"
    ordered = sorted(found.items(), key=lambda item: (item[0][1], -mean(smaller(row) for row in item[1])))
    return "\n".join([head, *(line(name, task, rows) for (name, task), rows in ordered)])


def line(name: str, task: str, rows: Records) -> str:
    joules = [sum(one["joules"] or 0 for one in row["spent"]) for row in rows]
    cells = [
        f"`{name}`", NAMES.get(task, task), str(len(rows)), spread([100 * row["scores"][1] for row in rows]), spread([100 * kept(row) for row in rows]) + " %",
        f"{mean(row['bytes'][1] for row in rows) / 1e6:.2f}", spread([smaller(row) for row in rows]) + " ×", spread([row["faster"]["value"] for row in rows]) + " ×",
        f"{mean(row['latency_ms'][1] for row in rows):.1f}", f"{mean(joules) / 3600:.2f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def goals(rows: Records) -> str:
    """What was asked for, and the best that the records show."""
    asked = [
        ("20 × smaller", lambda row: smaller(row) >= 20, 0.97),
        ("50 × smaller", lambda row: smaller(row) >= 50, 0.93),
    ]
    lines = []
    for words, enough, share in asked:
        every: dict[tuple[str, str], Records] = defaultdict(list)
        for row in rows:
            if enough(row):
                every[row["name"], row["task"]].append(row)
        best = max(every.items(), key=lambda item: mean(kept(row) for row in item[1]), default=None)
        said = "none yet" if best is None else f"`{best[0][0]}` on {NAMES.get(best[0][1], best[0][1])} keeps {mean(kept(row) for row in best[1]):.1%} at {mean(smaller(row) for row in best[1]):.1f} × ({len(best[1])} seeds)"  # fmt: skip
        lines.append(f"- {words} with at least {share:.0%} of the score: {said}.")
    return "\n".join(lines)


def kept(row: dict[str, Any]) -> float:
    return row["scores"][1] / row["scores"][0]


def smaller(row: dict[str, Any]) -> float:
    return row["bytes"][0] / row["bytes"][1]


def mean(values: Any) -> float:
    return statistics.mean(values)


def chains(rows: Records) -> str:
    last = rows[-1]
    told = ", ".join(f"{count} {what}" for what, count in sorted(last["outcomes"].items()))
    methods = ", ".join(f"{name} {count}" for name, count in last["methods"].items())
    return (
        f"Command: `python benchmarks/chains.py --chains {last['chains']}`. Random chains of 2 to 4 methods with random settings on a tiny model, seed {last['seed']}: {told}. What was "
        f"made was loaded by a new process and gave equal outputs in torch and in the engine, but for those counted as different. Methods in the chains that were made: {methods}."
    )  # fmt: skip
