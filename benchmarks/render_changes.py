"""Renders the page on what compression changes: churn, groups, exemplars of disjoint seeds, distillation against labels."""

import records
from results_page import Page, Record, Records, Section

NAMES = {"sst2": "SST-2", "mrpc": "MRPC", "imdb": "IMDb"}
STACKS = {
    "gptq": "4-bit stack",
    "qat": "2-bit stack",
    "gptq-labels": "4-bit stack, labels alone",
    "rtn": "3 bits",
    "half": "half the layers",
}
NOTES = {
    "sst2": "SST-2: 2,400 train rows for the stacks, 1,200 for the seeds.",
    "mrpc": "MRPC: 1,500 train rows for the stacks, 1,200 for the seeds; scored on the 1,725 labelled test rows of the original corpus.",
    "imdb": "IMDb: every 25th test review with the models of SST-2.",
}
MOST_GROUPS = 6


def latest(rows: Records) -> Records:
    """The newest record of each job."""
    return list({(row["kind"], row["name"], row["task"]): row for row in rows}.values())


def of_kind(rows: Records, *kinds: str) -> Records:
    return [row for row in rows if row["kind"] in kinds]


def changes(rows: Records) -> str:
    found = latest(rows)
    parts = [
        "Command: `python benchmarks/changes.py DATA`. Teacher MiniLM-L6, fine-tuned on few rows. 4-bit stack: half its layers, trimmed vocabulary, narrow embeddings, 4 bits, distilled; 2-bit stack: "
        "frequent tokens only, narrower embeddings, 2 bits. Labels alone: the same start, shape and steps without the teacher's logits. Intervals at 95 %. Seconds: the whole comparison on one core, "
        "without speed measurements, while other programs ran. "
        + " ".join(NOTES[task] for task in NOTES if any(row["task"] == task for row in found)),
        stacks(of_kind(found, "stack", "domain")),
        groups(of_kind(found, "stack", "domain")),
        calibration(of_kind(found, "stack", "domain")),
        exemplars(of_kind(found, "seeds")),
        against_labels(of_kind(found, "stack", "domain")),
    ]
    return "\n\n".join(part for part in parts if part)


def stacks(rows: Records) -> str:
    if not rows:
        return ""
    head = "| task | rows | compared with the teacher | smaller | score | difference | churn | worse | better | CKA of the last layers | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|"
    return "\n".join(["### Churn", "", head, *map(stack, rows), "", teachers(rows)])


def teachers(rows: Records) -> str:
    """How far each teacher is above the majority class: what a compressed copy of a teacher near it keeps says little."""
    found = {row["task"]: row for row in rows}
    each = (
        f"{NAMES[task]} {100 * row['models']['a']['score']:.1f} (majority class {100 * majority(row):.1f})"
        for task, row in found.items()
    )
    return f"Teachers: {', '.join(each)}."


def majority(row: Record) -> float:
    """The share of the larger of two classes, of which a record may have one."""
    counts = [group["rows"] for group in row["groups"] if group["kind"] == "class"]
    return max(*counts, row["rows"] - counts[0]) / row["rows"]


def stack(row: Record) -> str:
    a, b = row["models"]["a"], row["models"]["b"]
    apart = row["difference"]
    cells = [
        NAMES[row["task"]],
        f"{row['rows']:,}",
        STACKS[row["name"]],
        f"{a['bytes'] / b['bytes']:.1f}×",
        f"{100 * b['score']:.1f} ({row['metric']})",
        points(apart["difference"], apart["low"], apart["high"]),
        share(row["churn"]["changed"]),
        share(row["churn"]["broken"]),
        share(row["churn"]["fixed"]),
        f"{row['similarity'][0]:.2f}" if row["similarity"] else "–",
        f"{row['seconds']:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def groups(rows: Records) -> str:
    """The groups that lose most in each comparison."""
    lines = ["| task | stack | group | rows | points | p, corrected |", "|---|---|---|---|---|---|"]
    for row in rows:
        for group in row["groups"][:MOST_GROUPS]:
            bold = "**" if group["verdict"] == "loss" else ""
            name = f"{bold}{group['kind']}: {group['name']}{bold}"
            cells = [
                NAMES[row["task"]],
                STACKS[row["name"]],
                name,
                str(group["rows"]),
                points(-group["loss"], -group["high"], -group["low"]),
                p(group["p_corrected"]),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return (
        "\n".join(["### Groups that lose most", "", "Bold: a loss is shown after Holm's correction.", "", *lines])
        if rows
        else ""
    )


def calibration(rows: Records) -> str:
    lines = [
        "| task | model | ECE | ECE, scaled | temperature | log loss | log loss, scaled |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for side, name in (("a", "teacher"), ("b", STACKS[row["name"]])):
            if row["calibration"] and (side == "b" or row["name"] == "gptq"):
                one = row["calibration"][side]
                cells = [
                    NAMES[row["task"]],
                    name,
                    f"{100 * one['before']['ece']:.1f} %",
                    f"{100 * one['after']['ece']:.1f} %",
                    f"{one['temperature']:.2f}",
                    f"{one['before']['log_loss']:.3f}",
                    f"{one['after']['log_loss']:.3f}",
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(["### Calibration", "", *lines]) if len(lines) > 2 else ""


def exemplars(rows: Records) -> str:
    lines = [
        "| task | compression | seeds per group | rows | first set | second set | both | by chance | times | p | changed by new seeds of the teacher alone |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        halves = row["pie"]["halves"]
        times = "–" if halves["times"] is None else f"{halves['times']:.1f}"
        cells = [
            NAMES[row["task"]],
            STACKS[row["name"]],
            *map(str, (halves["seeds"], row["rows"], halves["first"], halves["second"], halves["both"])),
            f"{halves['expected']:.1f}",
            times,
            p(halves["p"]),
            share(halves["between_dense"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(["### Exemplars (PIE) of disjoint seeds", "", *lines]) if rows else ""


def against_labels(rows: Records) -> str:
    """Distilled and label-trained twins: what each keeps of the teacher's answers."""
    by = {(row["task"], row["name"]): row for row in rows}
    lines = [
        sentence(task, by[task, "gptq"], by[task, "gptq-labels"])
        for task in NAMES
        if {(task, "gptq"), (task, "gptq-labels")} <= set(by)
    ]
    return "\n".join(["### What distillation preserves", "", *lines]) if lines else ""


def sentence(task: str, distilled: Record, labels: Record) -> str:
    both = [row["churn"]["changed"] for row in (distilled, labels)]
    scores = [100 * row["models"]["b"]["score"] for row in (distilled, labels)]
    apart = both[0]["high"] < both[1]["low"] or both[1]["high"] < both[0]["low"]
    return (
        f"- {NAMES[task]}: the distilled stack changes {share(both[0])} of the teacher's predictions, its twin trained on labels {share(both[1])}"
        f"{'' if apart else ' (the intervals overlap)'}; scores {scores[0]:.1f} and {scores[1]:.1f}."
    )


def share(found: Record) -> str:
    return f"{100 * found['value']:.1f} % ({100 * found['low']:.1f}–{100 * found['high']:.1f})"


def points(value: float, low: float, high: float) -> str:
    return f"{100 * value:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})".replace("-", "−")


def p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def headline() -> str:
    found = latest(records.read("changes"))
    parts = [
        f"{STACKS[row['name']]} on {NAMES[row['task']]}: {share(row['churn']['changed'])} of the predictions change"
        for row in of_kind(found, "stack")
        if row["name"] == "gptq"
    ]
    halves = [(row, row["pie"]["halves"]) for row in of_kind(found, "seeds")]
    parts += [
        f"exemplars of disjoint seeds overlap {one['times']:.1f} times as often as by chance ({STACKS[row['name']]}, {NAMES[row['task']]})"
        for row, one in halves
        if one["times"]
    ]
    return "; ".join(parts) + "."


PAGE = Page(
    "changes",
    "What compression changes",
    "Compression",
    headline,
    (Section("changes", "Teachers and compressed models on the same rows", changes),),
)
