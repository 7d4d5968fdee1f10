"""The sections on engines: the same weights in the engines of others and in niwaki's."""

import statistics
from typing import Any

Record = dict[str, Any]
STREAMS = {"arrival": "as they come", "sorted": "sorted by length", "128": "128 tokens", "384": "384 tokens"}
OURS, STUDENT, AVX2 = "niwaki", "niwaki student ", ", AVX2 alone"
REFERENCE = "transformers eager fp32"
ASKED = {"arrival": 3.0, "sorted": 2.0, "128": 1.3, "384": 1.3}  # with AMX; without it as fast as the best peer
OF_STUDENTS = "Asked of a student: 97 % at 40 × and 8 ×; of a cascade: 99 % at 20 ×; of the smallest useful one: 20,000 texts a second, p50 below 0.5 ms and p99 below 3 × that."


def peers(rows: list[Record]) -> str:
    """The records of each shape of network and task, but for those whose contenders all raced again later."""
    shown: list[Record] = []
    for row in reversed(rows):
        later = {name for one in shown if raced(one) == raced(row) for name in one["contenders"]}
        if not set(row["contenders"]) <= later:
            shown.append(row)
    parts = [
        "Command: `python benchmarks/peers.py MODEL DATA`, with `--only` some of the engines and `--students NAME=FOLDER …` for models beside the teacher (a name that ends in -float is not rounded; the cascades are `niwaki cascade half teacher --task sst2 --keep 1.0`; `exits`, that of the half trained with exits (`benchmarks/distil.py DATA exits/sst2`, exported in 8 bits) with `--keep 0.99`; `exits-and-teacher`, that and the teacher with `--keep 0.995`; and `slim-and-teacher`, the stack `slim+int8` (`benchmarks/stack.py DATA stack/slim+int8/sst2`) and the teacher in 8 bits with `--keep 0.998`). The same fine-tuned fp32 model in each engine, as its documentation says to use it: batches of 32 in the order given, padded to "
        "the longest; niwaki's are what `niwaki export` wrote. Text in to label out, each engine in a process of its own with all cores, one at a time, lap by lap in turns. Figures are the median of the "
        "laps' ratios to transformers eager fp32; absolute figures in brackets. `AVX2 alone` is held back to instructions of 2013, and compared with the peers that can be held back too (ONNX Runtime cannot); where none was, with those that use all of the processor's."
    ]
    for row in shown:
        parts += [
            f"### {' layers of '.join(map(str, raced(row)[0]))} on {row['task']}, {row['threads']} threads, commit {row['commit']}, {row['time'][:10]}",
            table(row),
            goals(row),
        ]
    return "\n\n".join(parts)


def raced(row: Record) -> tuple[Any, ...]:
    """Layers and width of the network, and the task; the first records did not say the shape."""
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
    """niwaki's best beside the best of the others, in every stream."""
    lines = []
    for ours in ("niwaki native int8", f"niwaki native int8{AVX2}"):
        if ours not in row["contenders"]:
            continue
        own, theirs = row["contenders"][ours], others(row, held=ours.endswith(AVX2))
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


def others(row: Record, held: bool = False) -> dict[str, Record]:
    """The engines of others, those that are held back where asked for and there."""
    found = {name: one for name, one in row["contenders"].items() if not name.startswith(OURS)}
    back = {name: one for name, one in found.items() if name.endswith(AVX2)}
    return back if held and back else {name: one for name, one in found.items() if name not in back}


def students(row: Record) -> list[str]:
    """Smaller models beside the teacher, in transformers and in the best engine of others."""
    teacher = row["contenders"][REFERENCE]
    theirs = others(row)
    best = max(theirs, key=lambda name: theirs[name]["streams"]["arrival"]["ratio"])
    found = {name: one for name, one in row["contenders"].items() if name.startswith(STUDENT)}
    told = [
        f"- {name}: {one['score'] / teacher['score']:.1%} of the teacher's score at {one['streams']['arrival']['ratio']:.1f} × the teacher in transformers eager fp32 and "
        f"{one['streams']['arrival']['ratio'] / theirs[best]['streams']['arrival']['ratio']:.1f} × it in {best}, {middle(one['streams']['arrival']['per_second']):,.0f} texts a second; "
        f"a single request p50 {one['latency_ms']['p50']:.2f} ms, p99 {one['latency_ms']['p99'] / one['latency_ms']['p50']:.1f} × that"
        for name, one in found.items()
    ]
    return [*told, "", OF_STUDENTS] if found else []


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
    limit = "".join(
        f" The limit of 8-bit products with {name}, on registers alone: {most:.0f}." for name, most in limits.items()
    )
    head = [
        "| kernels | numbers | rows × outputs × inputs | billion operations a second | of the limit |",
        "|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            f"Command: `python benchmarks/products.py`. Products of the native engine on one core, rounding of inputs counted, by the processor's time.{limit}",
            "",
            *head,
            *lines,
        ]
    )


def cascade(rows: list[Record]) -> str:
    found = [one for row in rows for one in row["settings"]]
    lines = [
        f"| {one['metric']} | {one['rows']} | {len(one['skills'])}, errors alike {one['alike']:g} | {one['labels']} | {one['keep']:.0%} | {one['level']:.0%} | {one['held']:.1%} of {one['draws']} | {one['early']:.0%} |"
        for one in found
    ]
    notes = [f"Note of the record: {row['note']}." for row in rows if "note" in row]
    head = [
        "| score | rows | models | labels | keep | claimed | kept in | stop early |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            "Command: `python benchmarks/cascade.py 200`. Thresholds chosen on so many rows of made-up models whose truth is known; how often the share is truly kept, counted on 100,000 rows.",
            *notes,
            "",
            *head,
            *lines,
        ]
    )


def stream(rows: list[Record]) -> str:
    lines = [
        f"| {one['inputs']:,} | {one['bytes'] / 1e6:.0f} | {one['cpu_seconds']:.1f} | {one['peak_mb']:.0f} | "
        + (f"after {one['killed_after']:,}: the same file |" if one.get("same_file") else " |")
        for one in rows[-1]["sizes"]
    ]
    head = ["| sentences | MB read | processor seconds | peak MB | killed and gone on |", "|---|---|---|---|---|"]
    return "\n".join(
        [
            f"Command: `python benchmarks/stream.py MODEL`. `niwaki predict MODEL --in FILE --out FILE` with a model of the family {rows[-1]['model']} on {rows[-1]['cores']} core, made-up sentences of 3 to 40 words.",
            "",
            *head,
            *lines,
        ]
    )


def tokens(rows: list[Record]) -> str:
    row = rows[-1]
    kinds = ", ".join(f"{name} {count:,}" for name, count in row["kinds"].items())
    took = {name: f"{value:.1f}" for name, value in row["microseconds"].items()}
    return (
        f"Command: `python benchmarks/tokenizer_parity.py MODEL`. {row['texts']:,} made-up texts ({kinds}) through `Predictor.encode` and transformers' {row['tokenizer']}: {row['different']} differ.\n\n"
        f"Time of the processor for a sentence of the embedded reviews, medians of laps in turns: {took['niwaki']} µs, where the tokenizers library takes {took['library']}; one text at a time "
        f"{took['niwaki alone']} and {took['library alone']} µs."
    )


def middle(values: list[float]) -> float:
    return statistics.median(values)
