"""The section on word senses: systems of others by our scorer, baselines, and the models made here."""

from dataclasses import replace
from typing import Any

from render_students import Student, table

Record = dict[str, Any]
ALL = "ALL"
SETS = {"senseval2": "SE2", "senseval3": "SE3", "semeval2007": "SE07", "semeval2013": "SE13", "semeval2015": "SE15"}
PARTS = {"f1_nouns": "nouns", "f1_verbs": "verbs", "f1_adjectives": "adj.", "f1_adverbs": "adv."}
MADE = {
    ("semcor", "first"): "MiniLM-L6, SemCor alone, one epoch",
    ("semcor", "second"): "MiniLM-L6, SemCor alone, two epochs",
    ("teacher", "first"): "MiniLM-L6, one epoch (the teacher)",
    ("longer", "second"): "MiniLM-L6, two epochs",
    ("mpnet", "mpnet"): "mpnet-base, the first six of its twelve layers frozen, two epochs",
    ("mpnet-quarter", "quarter"): "mpnet-base, its words trimmed, 4 bits, without training",
    ("quarter", "quarter"): "the teacher, its words trimmed, 4 bits, without training",
    ("tenth", "bits4"): "MiniLM-L6, one epoch, taught by mpnet, its words trimmed, 4 bits",
    ("tenth-alone", "bits4"): "the same, not taught",
}
# job → whose student it is, and which
OF = {
    "quarter": ("word senses, of MiniLM-L6", "quarter"),
    "mpnet-quarter": ("word senses, of mpnet-base", "quarter"),
    "tenth": ("word senses, of mpnet-base", "tenth"),
}
MPNET_ASKED, ASKED = 0.74, 0.71


def senses(rows: list[Record]) -> str:
    newest = {(row["name"], row["seed"]): row for row in rows}
    head = f"| system | ALL | {' | '.join(SETS.values())} | {' | '.join(PARTS.values())} |\n|{'---|' * (2 + len(SETS) + len(PARTS))}"
    published = next((row for (name, _), row in newest.items() if name == "published"), None)
    lines = [line(title, found[ALL], found) for title, found in (published or {"systems": {}})["systems"].items()]
    stages = {(name, stage["stage"]): stage for (name, _), row in newest.items() for stage in row.get("stages", [])}
    made = [
        line(title, stages[key]["scores"][ALL], {part: stages[key]["scores"][part]["f1"] for part in SETS})
        for key, title in MADE.items()
        if key in stages
    ]
    parts = [
        "Command: `python benchmarks/senses.py DATA --mpnet FOLDER`. F1 × 100 by our scorer on Raganato's sets with WordNet 3.0. The systems are those of others, from the answers that they "
        "published (wsd-hard-benchmark); ours are trained on SemCor and, but where it is said, on the example sentences in WordNet's glosses (`data.examples`); SemEval-2007 (SE07) chose the weights of MiniLM's trainings, of mpnet's the last were kept.",
        "\n".join([head, *lines, *made]),
        goals(stages),
        sizes(stages),
        "\n".join(students({name: row for (name, _), row in newest.items()})),
        *(bare(row) for row in newest.values() if row["name"] == "plain"),
        *(paired(row) for row in newest.values() if row["name"] == "tenth"),
    ]
    return "\n\n".join(part for part in parts if part)


def line(title: str, scores: Record, sets: Record) -> str:
    cells = [scores["f1"], *(sets[part] for part in SETS), *(scores[part] for part in PARTS)]
    return f"| {title} | {' | '.join(f'{100 * value:.1f}' for value in cells)} |"


def goals(stages: dict[tuple[str, str], Record]) -> str:
    """The two teachers, beside what was asked of them."""
    asked = ((("teacher", "first"), "MiniLM-L6", ASKED), (("mpnet", "mpnet"), "mpnet-base", MPNET_ASKED))
    found = [(title, stages[key]["scores"][ALL]["f1"], least) for key, title, least in asked if key in stages]
    return " ".join(
        f"Asked of {title} on ALL: {100 * least:.0f}; it is {100 * f1:.1f}{'' if f1 >= least else ', which falls short'}."
        for title, f1, least in found
    )


def sizes(stages: dict[tuple[str, str], Record]) -> str:
    """Bytes of what was made: the network's weights, what lies beside it, and the folder."""
    if not stages:
        return ""
    head = (
        "| model | ALL | 95 % | weights MB | inventory MB | folder MB | minutes of CPU |\n|---|---|---|---|---|---|---|"
    )
    lines = []
    for key, title in MADE.items():
        if key in stages:
            stage = stages[key]
            low, high = stage["interval"]
            sized = " | ".join(f"{stage[size] / 1e6:.1f}" for size in ("weights", "knowledge", "bytes"))
            lines.append(
                f"| {title} | {100 * stage['scores'][ALL]['f1']:.1f} | {100 * low:.1f} to {100 * high:.1f} | {sized} | {stage['spent']['cpu_seconds'] / 60:.0f} |"
            )
    return "\n".join([head, *lines])


def students(rows: dict[str, Record]) -> list[str]:
    made = [Student(*told, **rows[name]["student"]) for name, told in OF.items() if "student" in rows.get(name, {})]
    if "tenth-alone" in rows and made and made[-1].name == "tenth":
        last = rows["tenth-alone"]["stages"][-1]
        value, (low, high) = last["scores"][ALL]["f1"], last["interval"]
        made.append(
            replace(
                made[-1],
                name="tenth-alone",
                bytes=last["bytes"],
                score={"value": value, "low": low, "high": high},
                race=None,
            )
        )
    return table(made) if made else []


def bare(row: Record) -> str:
    """What is lost where neither part of speech nor lemma is told."""
    return (
        f"Plain sentences, as `niwaki predict` takes them: of the {row['asked']} words of ALL, {row['found']} are found with their "
        f"lemma and part of speech among the candidates. With the part of speech not told, the teacher's F1 on ALL is {100 * row['without_pos']:.1f} "
        f"instead of {100 * row['with_pos']:.1f}; with the sentence alone, {100 * row['plain']:.1f}."
    )


def paired(row: Record) -> str:
    found, stages = row["paired"], {stage["stage"]: stage for stage in row["stages"]}
    teacher, last = stages["mpnet"], stages["bits4"]
    return (
        f"All folders hold the inventory of WordNet, {last['knowledge'] / 1e6:.1f} MB. Of mpnet's weights alone the student that it taught has "
        f"{last['weights'] / teacher['weights']:.1%}; on the test it has {100 * found['difference']:.1f} points ({100 * found['low']:.1f} to {100 * found['high']:.1f}) against mpnet."
    )
