"""The sections on engines: the same weights in the engines of others and in niwaki's."""

from typing import Any

Record = dict[str, Any]
STREAMS = {"arrival": "as they come", "sorted": "sorted by length", "128": "128 tokens", "384": "384 tokens"}
OURS, STUDENT = "niwaki", "niwaki student "
REFERENCE = "transformers eager fp32"
ASKED = {"arrival": 3.0, "sorted": 2.0, "128": 1.3, "384": 1.3}  # with AMX; without it as fast as the best peer


def peers(rows: list[Record]) -> str:
    """The newest record of each model and task with the same contenders."""
    newest = {(row["model"], row["task"], *sorted(row["contenders"])): row for row in rows}
    parts = [
        "Command: `python benchmarks/peers.py MODEL DATA`. The same fine-tuned fp32 model in each engine, as its documentation says to use it: batches of 32 in the order given, padded to "
        "the longest; niwaki's are what `niwaki export` wrote. Text in to label out, each engine in a process of its own with all cores, one at a time, lap by lap in turns. Figures are the median of the "
        "laps' ratios to transformers eager fp32; absolute figures in brackets. `AVX2 alone` is held back to instructions of 2013 while the others use all of the processor's."
    ]  # fmt: skip
    for row in newest.values():
        parts += [
            f"### {row['model']} on {row['task']}, {row['threads']} threads, commit {row['commit']}",
            table(row),
            goals(row),
        ]
    return "\n\n".join(parts)


def table(row: Record) -> str:
    head = [
        "| engine | score | " + " | ".join(STREAMS.values()) + " | single request p50 (p95, p99) ms |",
        "|" + "---|" * (len(STREAMS) + 3),
    ]
    ordered = sorted(row["contenders"].items(), key=lambda item: item[1]["streams"]["arrival"]["ratio"])
    lines = [
        f"| {name} | {one['score']:.2%} | "
        + " | ".join(
            f"{one['streams'][stream]['ratio']:.2f} ({middle(one['streams'][stream]['per_second']):.0f}/s)"
            for stream in STREAMS
        )
        + " | {p50:.2f} ({p95:.2f}, {p99:.2f}) |".format(**one["latency_ms"])
        for name, one in ordered
    ]
    faults = [f"| {name} | did not run: {fault} |" + " |" * (len(STREAMS) + 1) for name, fault in row["faults"].items()]
    return "\n".join([*head, *lines, *faults])


def goals(row: Record) -> str:
    """niwaki's best beside the best of the others, in every stream."""
    theirs = {name: one for name, one in row["contenders"].items() if not name.startswith(OURS)}
    lines = []
    for ours in ("niwaki native int8", "niwaki native int8, AVX2 alone"):
        if ours not in row["contenders"]:
            continue
        own = row["contenders"][ours]
        for stream, title in STREAMS.items():
            best = max(theirs, key=lambda name: theirs[name]["streams"][stream]["ratio"])
            times = own["streams"][stream]["ratio"] / theirs[best]["streams"][stream]["ratio"]
            lines.append(f"- {ours}, {title}: {times:.2f} × {best} (asked of AMX: {ASKED[stream]}; of others: 1)")
        best = min(theirs, key=lambda name: theirs[name]["latency_ms"]["p50"])
        times = theirs[best]["latency_ms"]["p50"] / own["latency_ms"]["p50"]
        lines.append(f"- {ours}, single request: {times:.2f} × as quick as {best} (asked of AMX: 1.3; of others: 1)")
        score = own["score"] - row["contenders"][REFERENCE]["score"]
        lines.append(f"- {ours}, score: {100 * score:+.2f} points from fp32 (asked: within 0.3)")
    return "\n".join([*lines, *students(row)])


def students(row: Record) -> list[str]:
    """Smaller models beside the teacher, in transformers and in the best engine of others."""
    teacher = row["contenders"][REFERENCE]
    theirs = {name: one for name, one in row["contenders"].items() if not name.startswith(OURS)}
    best = max(theirs, key=lambda name: theirs[name]["streams"]["arrival"]["ratio"])
    return [
        f"- {name}: {one['score'] / teacher['score']:.1%} of the teacher's score at {one['streams']['arrival']['ratio']:.1f} × the teacher in transformers eager fp32 and "
        f"{one['streams']['arrival']['ratio'] / theirs[best]['streams']['arrival']['ratio']:.1f} × it in {best}, {middle(one['streams']['arrival']['per_second']):,.0f} texts a second "
        "(asked: 97 % at 40 × and 8 ×; of the smallest useful one 20,000 texts a second)"
        for name, one in row["contenders"].items()
        if name.startswith(STUDENT)
    ]


def middle(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
