"""Renders the sections on engines, streaming, tokenization and cascades."""

import statistics
from typing import Any

import records
from results_page import Page, Section

Record = dict[str, Any]
STREAMS = {"arrival": "unsorted", "sorted": "sorted by length", "128": "128 tokens", "384": "384 tokens"}
OURS, STUDENT, AVX2 = "niwaki", "niwaki student ", ", AVX2 alone"  # prefixes and suffix of stored contender names
REFERENCE = "transformers eager fp32"
TARGETS = {"arrival": 3.0, "sorted": 2.0, "128": 1.3, "384": 1.3}  # with AMX; without it, 1
STUDENT_TARGETS = "Targets: a student keeps 97 % at 40 × (transformers) and 8 × (best other engine); a cascade keeps 99 % at 20 ×; the smallest useful model predicts 20,000 texts per second with p50 below 0.5 ms and p99 below 3 × that."


def peers(rows: list[Record]) -> str:
    """One table per network shape and task; records whose contenders were all measured again later are left out."""
    shown: list[Record] = []
    for row in reversed(rows):
        later = {name for other in shown if measured(other) == measured(row) for name in other["contenders"]}
        if not set(row["contenders"]) <= later:
            shown.append(row)
    parts = [
        "Command: `python benchmarks/peers.py MODEL DATA`; `--only` selects engines, `--students NAME=FOLDER …` adds smaller models (names that end in -float are not quantized). Every engine runs the same fine-tuned fp32 model as its "
        "documentation recommends, with batches of 32 padded to the longest; niwaki runs the output of `niwaki export`. Timings include tokenization. Each engine has its own process and all cores; the engines "
        "take turns lap by lap. Figures are medians of the laps' ratios to transformers eager fp32, with texts per second in brackets. `AVX2 alone` restricts the processor to AVX2 and is compared with "
        "other engines under the same restriction, or, if there are none (ONNX Runtime cannot be restricted), with unrestricted ones.",
        "Cascades among the students: `cascade` is `niwaki cascade half teacher --task sst2 --keep 1.0`; `exits` is the half-size student trained with early exits (`benchmarks/distil.py DATA exits/sst2`, int8) with `--keep 0.99`; "
        "`exits-and-teacher` adds the teacher with `--keep 0.995`; `slim-and-teacher` is `slim+int8` (`benchmarks/stack.py DATA stack/slim+int8/sst2`) and the int8 teacher with `--keep 0.998`.",
    ]
    for row in shown:
        layers, hidden_size = measured(row)[0]
        parts += [
            f"### {layers} layers, hidden size {hidden_size}, {row['task']}, {row['threads']} threads, commit {row['commit']}, {row['time'][:10]}",
            table(row),
            goals(row),
        ]
    return "\n\n".join(parts)


def measured(row: Record) -> tuple[Any, ...]:
    """Layers and hidden size of the network, and the task; the first records do not contain the shape."""
    return row.get("shape") or ([12, 768] if row["model"] == "teacher-17530c238473" else [6, 384]), row["task"]


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
    """niwaki compared with the best other engine, per stream."""
    lines = []
    for ours in ("niwaki native int8", f"niwaki native int8{AVX2}"):
        if ours not in row["contenders"]:
            continue
        own, theirs = row["contenders"][ours], others(row, restricted=ours.endswith(AVX2))
        for stream, title in STREAMS.items():
            best = max(theirs, key=lambda name: theirs[name]["streams"][stream]["ratio"])
            times = own["streams"][stream]["ratio"] / theirs[best]["streams"][stream]["ratio"]
            lines.append(f"- {ours}, {title}: {times:.2f} × {best} (target with AMX: {TARGETS[stream]}; otherwise 1)")
        best = min(theirs, key=lambda name: theirs[name]["latency_ms"]["p50"])
        times = theirs[best]["latency_ms"]["p50"] / own["latency_ms"]["p50"]
        lines.append(f"- {ours}, single request: {times:.2f} × as fast as {best} (target with AMX: 1.3; otherwise 1)")
        score = own["score"] - row["contenders"][REFERENCE]["score"]
        lines.append(f"- {ours}, score: {100 * score:+.2f} points compared with fp32 (target: within 0.3)")
    return "\n".join([*lines, *students(row)])


def others(row: Record, restricted: bool = False) -> dict[str, Record]:
    """Engines other than niwaki; those restricted to AVX2 if requested and available."""
    found = {name: entry for name, entry in row["contenders"].items() if not name.startswith(OURS)}
    limited = {name: entry for name, entry in found.items() if name.endswith(AVX2)}
    if restricted and limited:
        return limited
    return {name: entry for name, entry in found.items() if name not in limited}


def students(row: Record) -> list[str]:
    """Smaller models compared with the teacher in transformers and in the best other engine."""
    teacher = row["contenders"][REFERENCE]
    theirs = others(row)
    best = max(theirs, key=lambda name: theirs[name]["streams"]["arrival"]["ratio"])
    found = {name: one for name, one in row["contenders"].items() if name.startswith(STUDENT)}
    lines = [
        f"- {name}: {one['score'] / teacher['score']:.1%} of the teacher's score at {one['streams']['arrival']['ratio']:.1f} × the teacher in transformers eager fp32 and "
        f"{one['streams']['arrival']['ratio'] / theirs[best]['streams']['arrival']['ratio']:.1f} × in {best}, {middle(one['streams']['arrival']['per_second']):,.0f} texts per second; "
        f"single request p50 {one['latency_ms']['p50']:.2f} ms, p99 {one['latency_ms']['p99'] / one['latency_ms']['p50']:.1f} × that"
        for name, one in found.items()
    ]
    return [*lines, "", STUDENT_TARGETS] if found else []


def products(rows: list[Record]) -> str:
    row = rows[-1]
    limits = row["limits"]
    lines = []
    for one in row["products"]:
        limit = limits.get(one["kernels"]) if one["whole"] else None
        share = f"{one['gops'] / limit:.0%}" if limit else ""
        lines.append(
            f"| {one['kernels']} | {'8 bits' if one['whole'] else 'fp32'} | {' × '.join(map(str, one['size']))} | {one['gops']:.0f} | {share} |"
        )
    limit = "".join(f" Register-only limit of 8-bit products with {name}: {most:.0f}." for name, most in limits.items())
    head = [
        "| kernels | type | rows × outputs × inputs | billion operations per second | share of the limit |",
        "|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            f"Command: `python benchmarks/products.py`. Matrix products of the native engine on one core, including the quantization of inputs, by CPU time.{limit}",
            "",
            *head,
            *lines,
        ]
    )


def middle(values: list[float]) -> float:
    return statistics.median(values)


def headline() -> str:
    """niwaki's int8 engine in the newest record that has it."""
    row = next(row for row in reversed(records.read("peers")) if "niwaki native int8" in row["contenders"])
    own, theirs = row["contenders"]["niwaki native int8"]["streams"]["arrival"]["ratio"], others(row)
    best = max(theirs, key=lambda name: theirs[name]["streams"]["arrival"]["ratio"])
    ratio = own / theirs[best]["streams"]["arrival"]["ratio"]
    return f"The native engine with 8 bits runs at {own:.1f}× the speed of transformers and {ratio:.1f}× that of {best}, the best other engine."


PAGE = Page(
    "engines",
    "Engines",
    "Speed",
    headline,
    (
        Section("peers", "Engines with the same weights", peers),
        Section("products", "Matrix products of the native engine", products),
    ),
)
