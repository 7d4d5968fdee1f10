"""Renders the page on tuning few parameters next to full fine-tuning."""

from results_page import Page, Record, Records, Section

TITLES = {
    "full": "full fine-tuning",
    "head": "head alone",
    "bitfit": "BitFit",
    "bitfit-partial": "BitFit, two biases",
    "lora": "LoRA, query and value",
    "lora-all": "LoRA, all matrices",
    "qlora": "LoRA on a trunk of 4 bits",
    "ia3": "(IA)³",
    "pfeiffer": "adapters (Pfeiffer)",
    "houlsby": "adapters (Houlsby)",
    "prefix": "prefix tuning",
    "prompt": "prompt tuning",
}
HEAD = "| method | seeds | trained | delta and head, kB | score | of full | seconds | joules |\n|---|---|---|---|---|---|---|---|"


def adapt(rows: Records) -> str:
    newest = {(row["task"], row["method"], row["seed"]): row for row in rows}
    tasks = list(dict.fromkeys(row["task"] for row in newest.values()))
    parts = [
        "Command: `python benchmarks/adapt.py DATA [names …]`. MiniLM-L6, deltas kept; learning rates are fixed for each method and were not searched. *Trained* counts the trained parameters, with the "
        "head, among all that the network stores; *delta and head* is the file that `niwaki.add_head` writes, for full fine-tuning the whole weights file. Seconds and joules are those of the stage "
        "(training, validation, export and scoring), on a machine that did other work too. Scores are on the test rows, means over seeds, × 100.",
        *(section(task, [row for row in newest.values() if row["task"] == task]) for task in tasks),
    ]
    return "\n\n".join(parts)


def section(task: str, rows: Records) -> str:
    first = rows[0]
    full = [row["score"]["value"] for row in rows if row["method"] == "full"]
    reference = mean(full) if full else None
    lines = [
        line(method, [row for row in rows if row["method"] == method], reference)
        for method in TITLES
        if any(row["method"] == method for row in rows)
    ]
    interval = f" With one seed, the interval of full fine-tuning's score is {interval_of(rows)}." if full else ""
    about = f"**{task}** ({first['metric']}; {first['rows']['train']:,} train and {first['rows']['test']:,} test rows).{interval}"
    return "\n".join([about, "", HEAD, *lines])


def line(method: str, rows: Records, reference: float | None) -> str:
    score, few = mean([row["score"]["value"] for row in rows]), method != "full"
    size = rows[-1]["delta_bytes"] if few else rows[-1]["model_bytes"]
    cells = [
        TITLES[method],
        str(len(rows)),
        f"{100 * rows[-1]['training']['trained_share']:.2f} %",
        f"{size / 1000:,.0f}",
        f"{100 * score:.1f}",
        f"{100 * score / reference:.1f} %" if reference and few else "",
        f"{mean([row['spent']['seconds'] for row in rows]):,.0f}",
        f"{mean([row['spent']['joules'] or 0.0 for row in rows]):,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


def interval_of(rows: Records) -> str:
    found: Record = next(row["score"] for row in rows if row["method"] == "full")
    return f"{100 * found['low']:.1f} to {100 * found['high']:.1f}"


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def headline() -> str:
    import records

    rows = records.read("adapt")
    newest = {(row["task"], row["method"], row["seed"]): row for row in rows}
    shares = [row["training"]["trained_share"] for row in newest.values() if row["method"] not in ("full", "head")]
    tasks = ", ".join(dict.fromkeys(row["task"] for row in newest.values()))
    return f"deltas of {100 * min(shares):.2f} to {100 * max(shares):.2f} % of the parameters next to full fine-tuning ({tasks})"


PAGE = Page(
    "adapt",
    "Tuning few parameters",
    "Compression",
    headline,
    (Section("adapt", "Deltas and full fine-tuning", adapt),),
)
