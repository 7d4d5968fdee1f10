"""Renders docs/results.md and the table in README.md from the records in results/*.jsonl: `make results`."""

import re
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import records
import render_distil
import render_engines
import render_formulas
import render_generation
import render_glue
import render_recommendations
import render_reliability
import render_roles
import render_senses
import render_stack
import render_training
import render_translation

ROOT = Path(__file__).parent.parent
HEAD = """# Results

`make results` renders this page from the records in `benchmarks/results/`, which the listed commands append. A target is a value that was set before
the measurement. Speeds are compared only within one interleaved run, because absolute speeds vary with the load of the machine.
"""
Records = list[dict[str, Any]]


def main() -> None:
    (ROOT / "docs" / "results.md").write_text(results(), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(with_table(readme.read_text(encoding="utf-8")), encoding="utf-8")
    render_reliability.main()


def results() -> str:
    """The content of docs/results.md."""
    return "\n".join([HEAD, *(section(name, title, make) for name, title, make in SECTIONS if records.read(name))])


def section(name: str, title: str, make: Callable[[Records], str]) -> str:
    rows = records.read(name)
    return f"## {title}\n\n{make(rows)}\n\n{circumstances(rows[-1])}\n"


def demo(rows: Records) -> str:
    rows = latest(rows)
    goals = "\n".join(f"- {line}" for line in demo_goals(rows))
    return f"Command: `python benchmarks/demo.py {len(rows)}` (`make demo` with seeds 0 to {len(rows) - 1}; seeds without a wall time reused finished stages).\n\n{demo_table(rows)}\n\n{goals}"


def demo_table(rows: Records) -> str:
    """One row per stage: mean ± standard deviation over the seeds."""
    if not rows:
        return "No record yet: run `python benchmarks/demo.py`."
    count = len(rows[0]["stages"])
    lines = [stage_line([row["stages"][place] for row in rows], rows) for place in range(count)]
    base = spread([row["baseline"]["score"] for row in rows], "{:.1%}")
    reference = [row["reference"] for row in rows]
    head = [
        "| model | accuracy | accuracy kept | MB | smaller | texts/s | faster | p50 ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    plain = f"| teacher in transformers, eager, fp32 | | | | 1× | {spread([r['throughput'] for r in reference], '{:.0f}')} | 1× | {spread([r['latency_ms']['p50'] for r in reference], '{:.1f}')} |"
    return "\n".join(
        [
            *head,
            f"| {rows[0]['baseline']['name']} | {base} | | | | | | |",
            plain,
            *lines,
            "",
            f"Test split, mean ± standard deviation over {len(rows)} seeds.",
        ]
    )


def stage_line(stages: Records, rows: Records) -> str:
    score_shares = [stage["score"] / row["stages"][0]["score"] for stage, row in zip(stages, rows, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(stages, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(stages, rows, strict=True)]
    cells = [
        stages[0]["name"],
        spread([s["score"] for s in stages], "{:.1%}"),
        spread(score_shares, "{:.1%}"),
        spread([s["bytes"] / 1e6 for s in stages], "{:.1f}"),
        spread(smaller, "{:.1f}×"),
        spread([s["throughput"] for s in stages], "{:.0f}"),
        spread(faster, "{:.1f}×"),
        spread([s["latency_ms"]["p50"] for s in stages], "{:.1f}"),
    ]
    return "| " + " | ".join(cells) + " |"


def demo_goals(rows: Records) -> list[str]:
    """Each target with the measured value."""
    teacher = [row["stages"][0]["score"] for row in rows]
    last = [row["stages"][-1] for row in rows]
    score_shares = [stage["score"] / score for stage, score in zip(last, teacher, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(last, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(last, rows, strict=True)]
    return [
        f"Wall time after set-up, {sum(row['seconds'] is not None for row in rows)} of {len(rows)} runs: {spread([row['seconds'] for row in rows if row['seconds']], '{:.0f} s')} (limit: 480 s; target: 240 s).",
        *over_baselines(teacher, rows),
        f"The last stage keeps {spread(score_shares, '{:.1%}')} of the teacher's accuracy (target: 97 %), worst seed {min(score_shares):.1%}.",
        f"It is {spread(smaller, '{:.1f}×')} smaller on disk (target: 6×).",
        f"It runs at {spread(faster, '{:.1f}×')} the teacher's throughput in transformers, eager, fp32, unsorted batches of 32, including tokenization (target: 12×).",
    ]


def over_baselines(teacher: list[float], rows: Records) -> list[str]:
    """Gain of the teacher over each TF-IDF baseline."""
    lines = []
    for place, first in enumerate(rows[0]["baselines"]):
        over = [100 * (score - row["baselines"][place]["score"]) for score, row in zip(teacher, rows, strict=True)]
        lines.append(
            f"Gain of the teacher over {first['name']} ({first['score']:.1%}): {spread(over, '{:.1f}')} points."
        )
    return lines


def latest(rows: Records) -> Records:
    """The newest record of each seed, from the newest commit only: a table never mixes two versions of the code."""
    newest = {row["seed"]: row for row in rows if row["commit"] == rows[-1]["commit"]}
    return [newest[seed] for seed in sorted(newest)]


def kills(rows: Records) -> str:
    row = rows[-1]
    if "places" in row:
        return f"Command: `python benchmarks/kills.py {row['kills']}`. {render_reliability.kills(row)}. See [Reliability](reliability.md)."
    ends = ", ".join(f"{count} {result}" for result, count in row["outcomes"].items())
    verdict = "all are bit-identical" if row["same"] else f"these differ: {', '.join(row['differing'])}"
    return (
        f"Command: `python benchmarks/kills.py {row['kills']}`. A short run of the default recipe ({row['seconds_alone']:.0f} s undisturbed) "
        f"was killed with SIGKILL at {row['kills']} random moments and restarted each time with the same command. Of the "
        f"{row['files']} files of its models and histories, compared with an undisturbed run, {verdict}. Attempts in its ledger: {ends}."
    )


def batches(rows: Records) -> str:
    lines = [
        f"| {name} | {entry['throughput']['value']:.0f} | {entry['ratio']['value']:.2f} ({entry['ratio']['low']:.2f} to {entry['ratio']['high']:.2f}) |"
        for name, entry in rows[-1]["settings"].items()
    ]
    head = ["| batches | texts/s | ratio to the default (95 % interval) |", "|---|---|---|"]
    return "\n".join(
        ["Command: `python benchmarks/batches.py MODEL`, with the int8 model of the demo.", "", *head, *lines]
    )


def features(rows: Records) -> str:
    quick, large = (next(row for row in reversed(rows) if part in row) for part in ("speed", "large"))
    rates, cores = quick["speed"]["per_second"], large.get("cores", large["machine"]["vcpus"])
    lines = [
        f"| {entry['bytes'] / 1e6:,.0f} MB | {entry['rows']:,} | {entry['tokens'] / 1e6:.1f} M | {entry['read_cpu_seconds']:.1f} | {entry['encode_cpu_seconds']:.1f} | {entry['before_mb']:.0f} | {entry['peak_mb']:.0f} |"
        for entry in large["large"]
    ]
    return "\n".join(
        [
            "Command: `python benchmarks/features.py DATA`.",
            "",
            f"SST-2 training sentences ({quick['speed']['rows']:,}) to token ids and targets: median {statistics.median(rates):,.0f} per second, {min(rates):,.0f} to {max(rates):,.0f} over {len(rates)} repeats (target: at least 20,000).",
            "",
            f"A jsonl file of such sentences, read, split and encoded on {cores} vCPU{'s' if cores > 1 else ''} of a shared machine: CPU seconds, and anonymous memory of the process in MB:",
            "",
            "| file | training rows | tokens | read and split, s | encode, s | memory before | peak memory |",
            "|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def unusual_csv(rows: Records) -> str:
    row = rows[-1]
    columns = ", ".join(f"`{column}` as {role}" for role, column in row["columns"].items())
    scores = [(baseline["name"], baseline["score"], "") for baseline in row["rungs"]]
    scores += [(stage["name"], stage["score"], f"{stage['bytes'] / 1e6:.1f}") for stage in row["stages"]]
    others = ", ".join(row["written_beside"]) or "no other file"
    duration = (
        f"{row['seconds'] / 60:.0f} minutes on {row['cores']} vCPU at a load of {row['machine']['load']:.0f}"
        if row["seconds"]
        else row["note"]
    )
    return "\n".join(
        [
            "Command: `python benchmarks/unusual_csv.py DATA`, which writes a CSV file and runs `niwaki run --data FILE` without further settings.",
            "",
            f"{row['rows']:,} rows of WordNet lemmas and definitions with {row['labels']} labels, the largest with {row['largest']:.0%} of the rows; line breaks and quotes in the cells, uninformative column names. Recognized columns: {columns}. {duration[0].upper() + duration[1:]}; {others} written next to the run's folder.",
            "",
            f"| model | {row['metric']} | MB |",
            "|---|---|---|",
            *(f"| {name} | {score:.3f} | {size} |" for name, score, size in scores),
            "",
            f"The report concludes: {row.get('need') or row['verdict'].partition(';')[0] + '.'}",
        ]
    )


def spread(values: Sequence[float], form: str) -> str:
    mean = form.format(statistics.mean(values))
    around = form.format(statistics.stdev(values)) if len(values) > 1 else form.format(0)
    return mean if around == form.format(0) else f"{mean} ± {around}"


def circumstances(row: dict[str, Any]) -> str:
    machine, versions = row["machine"], row["versions"]
    packages = ", ".join(f"{name} {version}" for name, version in versions.items())
    return f"Machine: {machine['cpu']} (family {machine['family']}, model {machine['model']}), {machine['vcpus']} vCPUs, {machine['memory_bytes'] / 2**30:.0f} GiB. {packages}. Commit {row['commit']}, {row['time']}."


def with_table(readme: str) -> str:
    """The README with the table of the demo between its markers."""
    table = demo_table(latest(records.read("demo")))
    marked = re.compile(r"(<!-- results:begin -->\n).*?(<!-- results:end -->)", re.DOTALL)
    return marked.sub(lambda found: f"{found[1]}{table}\n{found[2]}", readme)


SECTIONS: tuple[tuple[str, str, Callable[[Records], str]], ...] = (
    ("demo", "Demo", demo),
    ("recommendations", "Recommendations", render_recommendations.recommendations),
    ("glue", "GLUE and SQuAD: fine-tuning and baselines", render_glue.glue),
    ("odd_csv", "An unusual CSV file", unusual_csv),
    ("senses", "Word senses", render_senses.senses),
    ("formulas", "Semantic parsing", render_formulas.formulas),
    ("roles", "Semantic roles", render_roles.roles),
    ("wmt22", "Translation metrics", render_translation.wmt22),
    ("writing", "Formulas and translations", render_generation.generation),
    ("search", "Generation speed, compared with transformers", render_generation.beam_search),
    ("distil", "Distillation", render_distil.distil),
    ("textbrewer", "Distillation, compared with TextBrewer", render_distil.textbrewer),
    ("stack", "Compression methods, alone and combined", render_stack.stack),
    ("lottery", "Lottery tickets", render_stack.lottery),
    ("compressors", "Quantization, compared with ONNX Runtime, NNCF and torchao", render_stack.compressors),
    ("training", "Training speed, compared with transformers' Trainer", render_training.section),
    ("peers", "Engines, with the same weights", render_engines.peers),
    ("products", "Matrix products of the native engine", render_engines.products),
    ("stream", "Files of any size", render_engines.stream),
    ("tokens", "Tokenization parity", render_engines.tokens),
    ("cascade", "Cascades", render_engines.cascade),
    ("chains", "Random combinations of methods", render_stack.chains),
    ("features", "Tokenization of training data", features),
    ("kills", "Recovery after kill -9", kills),
    ("batches", "Batch sizes of the predictor", batches),
)

if __name__ == "__main__":
    main()
