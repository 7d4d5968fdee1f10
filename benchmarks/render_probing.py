"""Renders the page on probes of a teacher and its compressed copies."""

import statistics
from collections.abc import Callable

import records
from results_page import Page, Record, Records, Section

from niwaki.core.json_types import Json

NAMES = {
    "agreement": "number of the subject, at its verb",
    "dependency_arcs": "dependency arcs",
    "named_entities": "named entities",
    "part_of_speech": "part of speech",
    "senses": "senses",
    "sentence_length": "sentence length",
    "tree_depth": "tree depth",
    "word_content": "word content",
}


def latest(rows: Records) -> Records:
    """The newest record of each seed."""
    return list({row["seed"]: row for row in rows}.values())


def probing(rows: Records) -> str:
    found = latest(rows)
    first = found[-1]
    return "\n".join(
        [
            "Command: `python benchmarks/probing.py DATA [seed …]`. MiniLM is fine-tuned on Rotten Tomatoes (teacher) and made smaller in four ways, each from the teacher: half the layers, distilled; "
            "70 % of the weights removed by magnitude, distilled; rounded to 4 bits without training; three values per weight, distilled. Training is short "
            f"(epochs: {epochs(first)}); MiniLM is the model before fine-tuning. Linear classifiers then read each layer of all models on the same sentences. Accuracy, selectivity and compression (how many times shorter "
            "the labels become, by online coding) are those of the layer with the shortest description of the training labels. Brackets: 95 % intervals from a bootstrap over test sentences; a difference in bold "
            f"excludes 0. {seeds(found)}",
            "",
            *models(found),
            "",
            *overview(found),
            *(line for name in NAMES if name in first["probes"] for line in of_probe(name, found)),
        ]
    )


def epochs(row: Record) -> str:
    return ", ".join(f"{stage['name']} {stage['train']['epochs']:g}" for stage in row["recipe"] if stage.get("train"))


def seeds(rows: Records) -> str:
    return (
        "One seed."
        if len(rows) == 1
        else f"Means over {len(rows)} seeds; intervals are those of seed {rows[-1]['seed']}."
    )


def models(rows: Records) -> list[str]:
    lines = ["| model | MB | accuracy on Rotten Tomatoes |", "|---|---|---|"]
    for name, about in rows[-1]["models"].items():
        score = "–" if about["score"] is None else f"{100 * about['score']['value']:.1f} %"
        lines.append(f"| {name} | {about['bytes'] / 1e6:.1f} | {score} |")
    return lines


def overview(rows: Records) -> list[str]:
    """Accuracy of all models on all probes; below, each probe with its intervals."""
    labels = [*rows[-1]["models"]]
    lines = [f"| probe | {' | '.join(labels)} |", f"|---|{'---|' * len(labels)}"]
    for name in NAMES:
        probes = [row["probes"][name] for row in rows if name in row["probes"]]
        if probes:
            cells = [accuracy([probe["models"][label] for probe in probes]) for label in labels]
            lines.append(f"| {NAMES[name]} | {' | '.join(cells)} |")
    return [
        *lines,
        "",
        "Accuracy at the best layer; bold where the interval of the difference to the teacher excludes 0.",
    ]


def accuracy(each: list[Json]) -> str:
    text = percent(mean([one["layers"][one["best"]] for one in each], lambda layer: layer["accuracy"]["value"]))
    return f"**{text}**" if differs(each[-1]) else text


def differs(model: Json) -> bool:
    """From the teacher, beyond the interval."""
    found = model.get("difference")
    return found is not None and not found["low"] <= 0 <= found["high"]


def of_probe(name: str, rows: Records) -> list[str]:
    found = [row["probes"][name] for row in rows if name in row["probes"]]
    last = found[-1]
    head = f"### {NAMES[name].capitalize()}"
    about = f"{last['train']:,} training and {last['test']:,} test examples, {last['labels']} labels; majority label {percent(mean(found, lambda one: one['majority']))}."
    lines = [
        "",
        head,
        "",
        about,
        "",
        "| model | layer | accuracy | less the teacher | selectivity | compression |",
        "|---|---|---|---|---|---|",
    ]
    return [*lines, *(of_model(label, found) for label in last["models"])]


def of_model(label: str, probes: list[Json]) -> str:
    each = [probe["models"][label] for probe in probes]
    layers = [one["layers"][one["best"]] for one in each]
    accuracy = layers[-1]["accuracy"]
    shown = f"{percent(mean(layers, lambda one: one['accuracy']['value']))} ({percent(accuracy['low'])}–{percent(accuracy['high'])})"
    cells = [
        label,
        ", ".join(dict.fromkeys(f"{one['best']} of {len(one['layers']) - 1}" for one in each)),
        shown,
        less(each),
        percent(mean(layers, lambda one: one["selectivity"]["value"])),
        f"{mean(layers, lambda one: one['compression']):.2f}×",
    ]
    return f"| {' | '.join(cells)} |"


def less(each: list[Json]) -> str:
    """The difference to the teacher in points; bold where the interval of the last seed excludes 0."""
    if "difference" not in each[-1]:
        return "–"
    found = each[-1]["difference"]
    value = mean(each, lambda one: one["difference"]["value"])
    text = f"{100 * value:+.1f}".replace("-", "−")
    text = f"**{text}**" if differs(each[-1]) else text
    return f"{text} ({100 * found['low']:+.1f} to {100 * found['high']:+.1f})".replace("-", "−")


def mean(rows: list[Json], value: Callable[[Json], float]) -> float:
    return statistics.mean(map(value, rows))


def percent(value: float) -> str:
    return f"{100 * value:.1f} %".replace("-", "−")


def headline() -> str:
    row = latest(records.read("probing"))[-1]
    lost = {
        label: [
            name
            for name, probe in row["probes"].items()
            if "difference" in probe["models"][label] and probe["models"][label]["difference"]["high"] < 0
        ]
        for label in row["models"]
        if label not in ("teacher", "MiniLM")
    }
    parts = [f"{label} {len(names)}" for label, names in lost.items()]
    return (
        f"Of {len(row['probes'])} probes, so many fall below the teacher's beyond their interval: {', '.join(parts)}."
    )


if records.read("probing"):  # the page exists from the first record on
    SECTIONS = (Section("probing", "Teacher and compressed copies", probing),)
    PAGE = Page("probing", "Probing", "Compression", headline, SECTIONS)
