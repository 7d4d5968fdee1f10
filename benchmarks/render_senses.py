"""The section on word senses: systems of others by our scorer, baselines, and the models made here."""

from typing import Any

Record = dict[str, Any]
ALL = "ALL"
SETS = {"senseval2": "SE2", "senseval3": "SE3", "semeval2007": "SE07", "semeval2013": "SE13", "semeval2015": "SE15"}
PARTS = {"f1_nouns": "nouns", "f1_verbs": "verbs", "f1_adjectives": "adj.", "f1_adverbs": "adv."}
STAGES = {
    "first": "MiniLM-L6, one epoch", "teacher": "MiniLM-L6, two epochs (the teacher)",
    "quarter": "the teacher, its words trimmed, 4 bits, without training", "student": "student, taught",
    "student-int8": "student, taught, 8 bits", "alone": "the same student, not taught", "alone-int8": "the same student, not taught, 8 bits",
}  # fmt: skip


def senses(rows: list[Record]) -> str:
    newest = {(row["name"], row["seed"]): row for row in rows}
    head = f"| system | ALL | {' | '.join(SETS.values())} | {' | '.join(PARTS.values())} |\n|{'---|' * (2 + len(SETS) + len(PARTS))}"
    published = next((row for (name, _), row in newest.items() if name == "published"), None)
    lines = [line(title, found[ALL], found) for title, found in (published or {"systems": {}})["systems"].items()]
    stages = {stage["stage"]: stage for row in newest.values() for stage in row.get("stages", [])}
    made = [line(STAGES[name], stage["scores"][ALL], {part: stage["scores"][part]["f1"] for part in SETS}) for name, stage in ordered(stages)]  # fmt: skip
    without = [bare(row) for row in newest.values() if row["name"] == "plain"]
    parts = [
        "Command: `python benchmarks/senses.py DATA`. F1 × 100 by our scorer on Raganato's sets with WordNet 3.0. The systems are those of others, from the answers that they "
        "published (wsd-hard-benchmark); ours are trained on SemCor alone, SemEval-2007 (SE07) chose their weights.",
        "\n".join([head, *lines, *made]),
        sizes(stages),
        quarter(stages),
        *without,
        *(paired(row) for row in newest.values() if "paired" in row),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def ordered(stages: dict[str, Record]) -> list[tuple[str, Record]]:
    return [(name, stages[name]) for name in STAGES if name in stages]


def line(title: str, scores: Record, sets: Record) -> str:
    cells = [scores["f1"], *(sets[part] for part in SETS), *(scores[part] for part in PARTS)]
    return f"| {title} | {' | '.join(f'{100 * value:.1f}' for value in cells)} |"


def sizes(stages: dict[str, Record]) -> str:
    """Bytes of what was made: the network's weights, what lies beside it, and the folder."""
    if not stages:
        return ""
    head = (
        "| model | ALL | 95 % | weights MB | inventory MB | folder MB | minutes of CPU |\n|---|---|---|---|---|---|---|"
    )
    lines = []
    for name, stage in ordered(stages):
        low, high = stage["interval"]
        sized = " | ".join(f"{stage[key] / 1e6:.1f}" for key in ("weights", "knowledge", "bytes"))
        lines.append(f"| {STAGES[name]} | {100 * stage['scores'][ALL]['f1']:.1f} | {100 * low:.1f} to {100 * high:.1f} | {sized} | {stage['spent']['cpu_seconds'] / 60:.0f} |")  # fmt: skip
    return "\n".join([head, *lines])


def quarter(stages: dict[str, Record]) -> str:
    """Asked: at most a quarter of the bytes, at least 97 % of the score."""
    if "quarter" not in stages:
        return ""
    small, teacher = stages["quarter"], stages["teacher"]
    kept, share = small["scores"][ALL]["f1"] / teacher["scores"][ALL]["f1"], small["bytes"] / teacher["bytes"]
    met = "met" if kept >= 0.97 and share <= 0.25 else "not met"
    return f"In 4 bits {kept:.1%} of the teacher's F1 is kept in {share:.1%} of its folder's bytes (asked: 97 % in 25 %: {met})."


def bare(row: Record) -> str:
    """What is lost where neither part of speech nor lemma is told."""
    return (
        f"Plain sentences, as `niwaki predict` takes them: of the {row['asked']} words of ALL, {row['found']} are found with their "
        f"lemma and part of speech among the candidates. With the part of speech not told, the teacher's F1 on ALL is {100 * row['without_pos']:.1f} "
        f"instead of {100 * row['with_pos']:.1f}; with the sentence alone, {100 * row['plain']:.1f}."
    )


def paired(row: Record) -> str:
    found, stages = row["paired"], {stage["stage"]: stage for stage in row["stages"]}
    teacher, last = stages["teacher"], stages["student-int8"]
    kept = last["scores"][ALL]["f1"] / teacher["scores"][ALL]["f1"]
    return (
        f"The taught student in 8 bits keeps {kept:.1%} of the teacher's F1 on ALL in {last['bytes'] / teacher['bytes']:.0%} of its folder's bytes and "
        f"{last['weights'] / teacher['weights']:.0%} of its weights'; on the test the difference is {100 * found['difference']:.1f} points "
        f"({100 * found['low']:.1f} to {100 * found['high']:.1f})."
    )
