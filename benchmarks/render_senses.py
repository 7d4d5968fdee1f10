"""Renders the section on word senses: published systems, baselines and niwaki's models."""

from dataclasses import replace
from typing import Any

import records
from render_students import Student, table
from results_page import Page, Section

Record = dict[str, Any]
ALL = "ALL"
SETS = {"senseval2": "SE2", "senseval3": "SE3", "semeval2007": "SE07", "semeval2013": "SE13", "semeval2015": "SE15"}
PARTS = {"f1_nouns": "nouns", "f1_verbs": "verbs", "f1_adjectives": "adj.", "f1_adverbs": "adv."}
GROUPS = {"f1_first_sense": "first sense", "f1_other_senses": "other senses"}
MODELS = {
    ("semcor", "first"): "MiniLM-L6, SemCor only, one epoch",
    ("semcor", "second"): "MiniLM-L6, SemCor only, two epochs",
    ("teacher", "first"): "MiniLM-L6, one epoch (the teacher)",
    ("longer", "second"): "MiniLM-L6, two epochs",
    ("mpnet", "mpnet"): "mpnet-base, first six of twelve layers frozen, two epochs",
    ("mpnet-quarter", "quarter"): "mpnet-base, vocabulary trimmed, 4 bits, no training",
    ("quarter", "quarter"): "the teacher, vocabulary trimmed, 4 bits, no training",
    ("tenth", "bits4"): "MiniLM-L6, one epoch, distilled from mpnet, vocabulary trimmed, 4 bits",
    ("tenth-alone", "bits4"): "the same, not distilled",
}
# job: its teacher, and the kind of student
STUDENTS = {
    "quarter": ("word senses, teacher MiniLM-L6", "quarter"),
    "mpnet-quarter": ("word senses, teacher mpnet-base", "quarter"),
    "tenth": ("word senses, teacher mpnet-base", "tenth"),
}
MPNET_TARGET, TARGET = 0.74, 0.71


def senses(rows: list[Record]) -> str:
    newest = {(row["name"], row["seed"]): row for row in rows}
    columns = [*GROUPS.values(), *SETS.values(), *PARTS.values()]
    head = f"| system | ALL | {' | '.join(columns)} |\n|{'---|' * (2 + len(columns))}"
    published = next((row for (name, _), row in newest.items() if name == "published"), None)
    lines = [line(title, found[ALL], found) for title, found in (published or {"systems": {}})["systems"].items()]
    stages = {(name, stage["stage"]): stage for (name, _), row in newest.items() for stage in row.get("stages", [])}
    own = [
        line(title, stages[key]["scores"][ALL], {part: stages[key]["scores"][part]["f1"] for part in SETS})
        for key, title in MODELS.items()
        if key in stages
    ]
    parts = [
        "Command: `python benchmarks/senses.py DATA --mpnet FOLDER`. F1 × 100 by niwaki's scorer on the test sets of Raganato et al. with WordNet 3.0. Published systems are scored from their "
        "published answers (wsd-hard-benchmark). niwaki's models are trained on SemCor and, unless stated otherwise, on the example sentences of WordNet's glosses (`data.examples`). Checkpoints of MiniLM are selected on SemEval-2007 (SE07); for mpnet the last one is used.",
        group_sizes(published or {}),
        "\n".join([head, *lines, *own]),
        goals(stages),
        sizes(stages),
        "\n".join(students({name: row for (name, _), row in newest.items()})),
        *(bare(row) for row in newest.values() if row["name"] == "plain"),
        *(paired(row) for row in newest.values() if row["name"] == "tenth"),
    ]
    return "\n\n".join(part for part in parts if part)


def line(title: str, scores: Record, sets: Record) -> str:
    groups = [scores.get(group) for group in GROUPS]  # older records have none
    cells = [scores["f1"], *groups, *(sets[part] for part in SETS), *(scores[part] for part in PARTS)]
    return f"| {title} | {' | '.join('–' if value is None else f'{100 * value:.1f}' for value in cells)} |"


def group_sizes(published: Record) -> str:
    if "words" not in published:
        return ""
    sizes = {title: published["words"][part] for part, title in {ALL: ALL, **SETS}.items()}
    each = ", ".join(f"{title} {first:,} and {other:,}" for title, (first, other) in sizes.items())
    return (
        "*First sense* is the F1 on the words of ALL whose correct sense is WordNet's first, *other senses* on all others; – is not recorded. "
        f"Number of words with their first sense and with another: {each}."
    )


def goals(stages: dict[tuple[str, str], Record]) -> str:
    """The two teachers, compared with their targets."""
    targets = ((("teacher", "first"), "MiniLM-L6", TARGET), (("mpnet", "mpnet"), "mpnet-base", MPNET_TARGET))
    found = [(title, stages[key]["scores"][ALL]["f1"], target) for key, title, target in targets if key in stages]
    return " ".join(
        f"Target for {title} on ALL: {100 * target:.0f}; measured: {100 * f1:.1f}, {'met' if f1 >= target else 'not met'}."
        for title, f1, target in found
    )


def sizes(stages: dict[tuple[str, str], Record]) -> str:
    """Sizes: the network's weights, the sense inventory, and the whole folder."""
    if not stages:
        return ""
    head = "| model | ALL | 95 % interval | weights MB | inventory MB | folder MB | CPU minutes |\n|---|---|---|---|---|---|---|"
    lines = []
    for key, title in MODELS.items():
        if key in stages:
            stage = stages[key]
            low, high = stage["interval"]
            sized = " | ".join(f"{stage[size] / 1e6:.1f}" for size in ("weights", "knowledge", "bytes"))
            lines.append(
                f"| {title} | {100 * stage['scores'][ALL]['f1']:.1f} | {100 * low:.1f} to {100 * high:.1f} | {sized} | {stage['spent']['cpu_seconds'] / 60:.0f} |"
            )
    return "\n".join([head, *lines])


def students(rows: dict[str, Record]) -> list[str]:
    found = [
        Student(*labels, **rows[name]["student"])
        for name, labels in STUDENTS.items()
        if "student" in rows.get(name, {})
    ]
    if "tenth-alone" in rows and found and found[-1].name == "tenth":
        last = rows["tenth-alone"]["stages"][-1]
        value, (low, high) = last["scores"][ALL]["f1"], last["interval"]
        found.append(
            replace(
                found[-1],
                name="tenth-alone",
                bytes=last["bytes"],
                score={"value": value, "low": low, "high": high},
                race=None,
            )
        )
    return table(found) if found else []


def bare(row: Record) -> str:
    """The loss without given lemmas and parts of speech."""
    return (
        f"Plain sentences, as in `niwaki predict`: for {row['found']} of the {row['asked']} target words of ALL, the candidates contain the correct "
        f"lemma and part of speech. Without given parts of speech, the teacher's F1 on ALL is {100 * row['without_pos']:.1f} "
        f"instead of {100 * row['with_pos']:.1f}; with plain sentences it is {100 * row['plain']:.1f}."
    )


def paired(row: Record) -> str:
    found, stages = row["paired"], {stage["stage"]: stage for stage in row["stages"]}
    teacher, last = stages["mpnet"], stages["bits4"]
    return (
        f"All folders contain the WordNet inventory, {last['knowledge'] / 1e6:.1f} MB. The weights of the student distilled from mpnet have "
        f"{last['weights'] / teacher['weights']:.1%} of mpnet's size; its test score differs by {100 * found['difference']:.1f} points ({100 * found['low']:.1f} to {100 * found['high']:.1f})."
    )


def headline() -> str:
    """The student of mpnet-base and its teacher."""
    row = next(row for row in reversed(records.read("senses")) if row["name"] == "tenth")
    stages = {stage["stage"]: stage for stage in row["stages"]}
    teacher, student = stages["mpnet"], stages["bits4"]
    f1 = [100 * stage["scores"][ALL]["f1"] for stage in (teacher, student)]
    return f"mpnet-base reaches an F1 of {f1[0]:.1f}; its student with {student['weights'] / teacher['weights']:.1%} of the weights {f1[1]:.1f}."


PAGE = Page("word_senses", "Word senses", "Tasks", headline, (Section("senses", "Word senses", senses),))
