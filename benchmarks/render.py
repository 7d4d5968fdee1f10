"""Writes docs/results.md and the table in README.md from the records in results/*.jsonl: `make results`. No figure is typed in."""

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
import render_recommendations
import render_reliability
import render_roles
import render_senses
import render_stack
import render_training
import render_translation

from niwaki.evaluate.glue import average

ROOT = Path(__file__).parent.parent
HEAD = """# Results

Every figure here is rendered by `make results` from the records in `benchmarks/results/`, which the commands named below append.
Speed is only compared within one run, interleaved; absolute figures drift with the machine.
"""
Records = list[dict[str, Any]]


def main() -> None:
    sections = [section(name, title, make) for name, title, make in SECTIONS if records.read(name)]
    (ROOT / "docs" / "results.md").write_text("\n".join([HEAD, *sections]), encoding="utf-8")
    fill(ROOT / "README.md", demo_table(latest(records.read("demo"))))
    render_reliability.main()


def section(name: str, title: str, make: Callable[[Records], str]) -> str:
    rows = records.read(name)
    return f"## {title}\n\n{make(rows)}\n\n{circumstances(rows[-1])}\n"


def demo(rows: Records) -> str:
    rows = latest(rows)
    goals = "\n".join(f"- {line}" for line in demo_goals(rows))
    return f"Command: `python benchmarks/demo.py {len(rows)}` (what `make demo` runs, seeds 0 to {len(rows) - 1}; seeds without a wall time reused finished stages of the same keys).\n\n{demo_table(rows)}\n\n{goals}"


def demo_table(rows: Records) -> str:
    """One line per stage: mean over the seeds ± standard deviation."""
    if not rows:
        return "No record yet: `python benchmarks/demo.py` makes them."
    count = len(rows[0]["stages"])
    lines = [stage_line([row["stages"][place] for row in rows], rows) for place in range(count)]
    base = spread([row["baseline"]["score"] for row in rows], "{:.1%}")
    reference = [row["reference"] for row in rows]
    head = [
        "| model | accuracy | kept | MB | smaller | texts/s | faster | p50 ms |",
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
    kept = [stage["score"] / row["stages"][0]["score"] for stage, row in zip(stages, rows, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(stages, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(stages, rows, strict=True)]
    cells = [
        stages[0]["name"],
        spread([s["score"] for s in stages], "{:.1%}"),
        spread(kept, "{:.1%}"),
        spread([s["bytes"] / 1e6 for s in stages], "{:.1f}"),
        spread(smaller, "{:.1f}×"),
        spread([s["throughput"] for s in stages], "{:.0f}"),
        spread(faster, "{:.1f}×"),
        spread([s["latency_ms"]["p50"] for s in stages], "{:.1f}"),
    ]
    return "| " + " | ".join(cells) + " |"


def demo_goals(rows: Records) -> list[str]:
    """What issue 2 asks for, each beside what came out."""
    teacher = [row["stages"][0]["score"] for row in rows]
    last = [row["stages"][-1] for row in rows]
    kept = [stage["score"] / score for stage, score in zip(last, teacher, strict=True)]
    smaller = [row["stages"][0]["bytes"] / stage["bytes"] for stage, row in zip(last, rows, strict=True)]
    faster = [stage["throughput"] / row["reference"]["throughput"] for stage, row in zip(last, rows, strict=True)]
    return [
        f"Wall time from nothing, set-up done, {sum(row['seconds'] is not None for row in rows)} of {len(rows)} runs: {spread([row['seconds'] for row in rows if row['seconds']], '{:.0f} s')} (asked: at most 480 s; goal 240 s).",
        *over_baselines(teacher, rows),
        f"The last stage keeps {spread(kept, '{:.1%}')} of the teacher's accuracy (asked: 97 %), worst seed {min(kept):.1%}.",
        f"It is {spread(smaller, '{:.1f}×')} smaller on disk (asked: 6×).",
        f"It runs at {spread(faster, '{:.1f}×')} the teacher's throughput in transformers, eager, fp32, batches of 32 in arrival order, text in to label out (asked: 12×).",
    ]


def over_baselines(teacher: list[float], rows: Records) -> list[str]:
    """Asked: 5 points over TF-IDF and a linear SVM, with the accuracy of the plain one; the stronger is told beside it."""
    lines = []
    for place, first in enumerate(rows[0]["baselines"]):
        over = [100 * (score - row["baselines"][place]["score"]) for score, row in zip(teacher, rows, strict=True)]
        lines.append(f"Teacher over {first['name']} ({first['score']:.1%}): {spread(over, '{:.1f}')} points.")
    return lines


def latest(rows: Records) -> Records:
    """The newest record of each seed among those of the newest commit: a table never mixes two versions of the code."""
    newest = {row["seed"]: row for row in rows if row["commit"] == rows[-1]["commit"]}
    return [newest[seed] for seed in sorted(newest)]


def kills(rows: Records) -> str:
    row = rows[-1]
    if "places" in row:
        return f"Command: `python benchmarks/kills.py {row['kills']}`. {render_reliability.kills(row)}. [Reliability](reliability.md) tells more."
    ends = ", ".join(f"{count} {outcome}" for outcome, count in row["outcomes"].items())
    verdict = "all are the same to the bit" if row["same"] else f"these differ: {', '.join(row['differing'])}"
    return (
        f"Command: `python benchmarks/kills.py {row['kills']}`. A short run of the default recipe ({row['seconds_alone']:.0f} s when left alone) "
        f"was killed with SIGKILL at {row['kills']} random moments and each time started again by the same command. Of the "
        f"{row['files']} files of its models and histories, compared with the run left alone, {verdict}. Attempts in its ledger: {ends}."
    )


def batches(rows: Records) -> str:
    lines = [
        f"| {name} | {entry['throughput']['value']:.0f} | {entry['ratio']['value']:.2f} ({entry['ratio']['low']:.2f} to {entry['ratio']['high']:.2f}) |"
        for name, entry in rows[-1]["settings"].items()
    ]
    head = ["| batches | texts/s | against the default |", "|---|---|---|"]
    return "\n".join(["Command: `python benchmarks/batches.py MODEL`, here the demo's int8 model.", "", *head, *lines])


def glue(rows: Records) -> str:
    """One line for each task: the newest record of each."""
    newest = {row["name"]: row for row in rows}
    found = [newest[name] for name in GLUE_ORDER if name in newest]
    kinds = ("majority", "tfidf", "static", "frozen")
    head = [
        "| set | train rows | test rows | score | commonest | TF-IDF + SVM | static | frozen | fine-tuned | metrics | over the best rung |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(
        [
            "Command: `python benchmarks/glue.py DATA [names]`, with DATA a folder of tasks ([Tasks](tasks.md)): the recipe `finetune` (embeddings frozen), "
            "scored on the development rows, which choose nothing; GLUE's own score of each task × 100, mean ± standard deviation over the seeds; "
            "the baselines beside it on the same rows; the difference to the best rung with its 95 % interval.",
            "",
            *head,
            *(glue_line(row, kinds) for row in found),
            "",
            *glue_notes(found),
        ]
    )


GLUE_ORDER = (
    "cola",
    "sst2",
    "mrpc",
    "stsb",
    "rte",
    "wnli",
    "qnli",
    "qqp",
    "mnli",
    "squad",
    "mpnet-sst2",
    "mpnet-mrpc",
    "mpnet-stsb",
)


def glue_line(row: dict[str, Any], kinds: Sequence[str]) -> str:
    rungs = {rung["kind"]: f"{100 * rung['value']:.1f}" for rung in row["rungs"]}
    metrics = {name: statistics.mean(scores[name] for scores in row["scores"]) for name in row["scores"][0]}
    metrics |= {name: statistics.mean(parts[name] for parts in row["parts"]) for name in row["parts"][0]}
    said = ", ".join(f"{name} {value:.3f}" for name, value in metrics.items() if name != "mean")
    pair = next(pair for pair in row["pairs"] if pair["b"] == row["best_rung"])
    gap = f"{100 * pair['difference']:+.1f} ({100 * pair['low']:+.1f} to {100 * pair['high']:+.1f})"
    cells = [
        f"{row['model']}, {row['task']}",
        f"{row['rows']['train']:,}",
        f"{row['rows']['test']:,}",
        row["metric"],
        *(rungs.get(kind, "") for kind in kinds),
        f"**{spread([100 * value for value in row['glue']], '{:.1f}')}** ({len(row['seeds'])} seed{'s' if len(row['seeds']) > 1 else ''})",
        said,
        gap if pair["shown"] else f"{gap}: no difference shown",
    ]
    return "| " + " | ".join(cells) + " |"


def glue_notes(found: Records) -> list[str]:
    """What a reader must know of single rows, and the average, or why there is none."""
    notes = [f"- {row['model']}, {row['task']}: {row['note']}." for row in found if row["note"]]
    complete = {
        row["task"]: statistics.mean(row["glue"]) for row in found if not row["note"] and row["model"] == "minilm"
    }
    said = average(complete)
    if said["average"] is None:
        notes.append(
            f"- No GLUE average: {', '.join(said['missing'])} are not complete here, and an average over fewer tasks is no GLUE average."
        )
    return notes


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
            f"SST-2 train sentences ({quick['speed']['rows']:,}) to token ids and targets: median {statistics.median(rates):,.0f} a second, {min(rates):,.0f} to {max(rates):,.0f} over {len(rates)} repeats (asked: at least 20,000).",
            "",
            f"A jsonl file of such sentences, read, split and encoded on {cores} vCPU{'s' if cores > 1 else ''} of a shared machine, which says nothing of its speed; CPU seconds, and anonymous memory of the process in MB:",
            "",
            "| file | train rows | tokens | read and split | encode | before | peak |",
            "|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def odd_csv(rows: Records) -> str:
    row = rows[-1]
    columns = ", ".join(f"`{column}` as {role}" for role, column in row["columns"].items())
    scores = [(rung["name"], rung["score"], "") for rung in row["rungs"]]
    scores += [(stage["name"], stage["score"], f"{stage['bytes'] / 1e6:.1f}") for stage in row["stages"]]
    beside = ", ".join(row["written_beside"]) or "no other file"
    took = (
        f"{row['seconds'] / 60:.0f} minutes on {row['cores']} vCPU at a load of {row['machine']['load']:.0f}"
        if row["seconds"]
        else row["note"]
    )
    return "\n".join(
        [
            "Command: `python benchmarks/unusual_csv.py DATA`, which makes a CSV and runs `niwaki run --data FILE`, nothing else said.",
            "",
            f"{row['rows']:,} rows of WordNet's words and meanings, {row['labels']} families of things to be told apart, of which one has {row['largest']:.0%} of the rows; line breaks and quotes in the cells, column names that say nothing. Read: {columns}. {took[0].upper() + took[1:]}; {beside} written beside the run's folder.",
            "",
            f"| what | {row['metric']} | MB |",
            "|---|---|---|",
            *(f"| {name} | {score:.3f} | {size} |" for name, score, size in scores),
            "",
            f"What the report says of it: {row.get('need') or row['verdict'].partition(';')[0] + '.'}",
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


def fill(path: Path, text: str) -> None:
    """Puts `text` between the marks that a document keeps for it."""
    old = path.read_text(encoding="utf-8")
    new = re.sub(
        r"(<!-- results:begin -->\n).*?(<!-- results:end -->)", lambda m: f"{m[1]}{text}\n{m[2]}", old, flags=re.S
    )
    path.write_text(new, encoding="utf-8")


SECTIONS: tuple[tuple[str, str, Callable[[Records], str]], ...] = (
    ("demo", "The main job", demo),
    ("recommendations", "Recommendations", render_recommendations.recommendations),
    ("glue", "GLUE and SQuAD, fine-tuned, beside the ladder of baselines", glue),
    ("odd_csv", "A stranger's CSV", odd_csv),
    ("senses", "Word senses", render_senses.senses),
    ("formulas", "Formulas", render_formulas.formulas),
    ("roles", "Semantic roles", render_roles.roles),
    ("wmt22", "Translation: the scorer", render_translation.wmt22),
    ("writing", "Formulas and translations", render_generation.writing),
    ("search", "Writing, against generate of transformers", render_generation.search),
    ("distil", "Students and their teachers", render_distil.distil),
    ("textbrewer", "Against TextBrewer", render_distil.textbrewer),
    ("stack", "Compressions, alone and stacked", render_stack.stack),
    ("lottery", "Lottery tickets", render_stack.lottery),
    ("compressors", "Against ONNX Runtime, NNCF and torchao", render_stack.compressors),
    ("training", "Training speed, against transformers' Trainer", render_training.section),
    ("peers", "Engines, with the same weights", render_engines.peers),
    ("products", "Products of the native engine", render_engines.products),
    ("stream", "Files of any size", render_engines.stream),
    ("tokens", "The same tokens", render_engines.tokens),
    ("cascade", "Cascades", render_engines.cascade),
    ("chains", "Random chains of methods", render_stack.chains),
    ("features", "From rows to features", features),
    ("kills", "kill -9", kills),
    ("batches", "Batches of the predictor", batches),
)

if __name__ == "__main__":
    main()
