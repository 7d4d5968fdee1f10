"""Renders the page on searches under limits."""

import records
from results_page import Page, Record, Records, Section

NAMES = {"niwaki": "`niwaki search` (shapes, halving, TPE)", "tpe": "Optuna's TPE alone", "random": "random search"}


def newest(rows: Records, kind: str) -> Records:
    """The newest record of each name."""
    return list({row["name"]: row for row in rows if row["kind"] == kind}.values())


def searches(rows: Records) -> str:
    found = newest(rows, "search")
    if not found:
        return "Not measured yet."
    lines = [search_line(row) for row in found]
    head = "| data | limits | selected | of the source's score on test rows | limits missed | trials | minutes | CPU minutes | kJ |"
    note = (
        "Command: `python benchmarks/search_budget.py search NAME RECIPE FOLDER`. Trials are those that were finished, ended early and "
        "rejected by their shapes. The machine was shared with other work; times of models are ratios to the source."
    )
    return "\n".join([note, "", head, "|---" * 9 + "|", *lines])


def search_line(row: Record) -> str:
    one, settings, spent = row["selected"], row["settings"], row["spent"]
    units = (("max_mb", "MB"), ("max_p99_ms", "ms p99"), ("max_joules_per_1000", "J per 1,000"))
    limits = ", ".join(f"{settings[key]:g} {unit}" for key, unit in units if key in settings)
    keep = f", keep {settings['keep']:.0%}" if "keep" in settings else ""
    test = one["test"]
    model = f"{one['bytes'] / 1e6:.1f} MB, p99 {one['p99_ms']:.2f} ms, {one['joules_per_1000']:.2g} J per 1,000, {one['format']} in {one['engine']}"
    counts = [sum(trial["status"] == status for trial in row["trials"]) for status in ("done", "stopped", "rejected")]
    return (
        f"| {row['name']} | {limits}{keep} | {model} | {test['kept']:.1%} ({test['kept_low']:.1%} to {test['kept_high']:.1%}) | "
        f"{'; '.join(one['missed']) or 'none'} | {', '.join(map(str, counts))} | {spent['seconds'] / 60:.0f} | "
        f"{spent['cpu_seconds'] / 60:.0f} | {spent['joules'] / 1000:.1f} |"
    )


def predictions(rows: Records) -> str:
    found = newest(rows, "search") + newest(rows, "grid")
    lines = [
        f"| {row['name']}, {row['kind']} | {one['predictor']} | {one['of']} | {one['models']} | {one['correlation']:.2f} |"
        for row in found
        for one in row["predictors"]
        if one["correlation"] is not None
    ]
    if not lines:
        return "Not measured yet."
    return "\n".join(["| data | prediction | of | models | Spearman’s correlation |", "|---" * 5 + "|", *lines])


def samplers(rows: Records) -> str:
    found = newest(rows, "replay")
    return "\n\n".join(map(replay_table, found)) if found else "Not measured yet."


def replay_table(row: Record) -> str:
    lines = [
        f"| {one['share']:.0%} ({one['joules'] / 1000:.1f} kJ) | {NAMES[one['method']]} | {range_of(one)} | "
        f"{'' if one['method'] == 'niwaki' else range_of(one['niwaki_minus'])} |"
        for one in sorted(row["rows"], key=lambda one: one["share"])
    ]
    note = (
        f"{row['name']}: every one of {row['points']} points was trained ({row['joules'] / 1000:.1f} kJ). Each sampler was then replayed on "
        f"these measurements with {row['seeds']} seeds. Regret is the score of the best point within the size limit minus that of the best "
        "point found, in points of the share of the source's validation score. The last column is the regret of `niwaki search` minus that of "
        "the sampler, paired by seed; below 0, `niwaki search` is ahead. Means with 95 % intervals over seeds."
    )
    head = "| joules of the grid | sampler | regret | `niwaki search` minus sampler |"
    return "\n".join([note, "", head, "|---" * 4 + "|", *lines])


def range_of(one: Record) -> str:
    return f"{one['mean']:.2f} ({one['low']:.2f} to {one['high']:.2f})"


def supernets(rows: Records) -> str:
    if not rows:
        return "Not measured yet."
    row = rows[-1]
    alone, cut = (
        sum(one[f"{kind}_seconds"] for one in row["shapes"]) / len(row["shapes"]) for kind in ("alone", "cut")
    )
    note = (
        f"Command: `python benchmarks/supernet.py FOLDER {len(row['shapes'])} {row['epochs']:g}`. Rotten Tomatoes, MiniLM; scores on test rows, one "
        f"seed. Spearman's correlation of the two columns: {row['correlation']:.2f} (target 0.8). The teacher has {row['teacher']:.1%}, the whole "
        f"supernet {row['supernet']:.1%}. Processor seconds: {row['supernet_seconds']:.0f} for the supernet and {cut:.1f} for each cut, scored and "
        f"exported; {alone:.0f} for a shape that was trained alone."
    )
    lines = [
        f"| {layers} | {heads:.0%} | {ffn:.0%} | {one['cut']:.1%} | {one['alone']:.1%} |"
        for one in row["shapes"]
        for layers, heads, ffn in [one["shape"]]
    ]
    head = "| layers | heads | neurons | cut from the supernet | trained alone |"
    return "\n".join([note, "", head, "|---" * 5 + "|", *lines])


def headline() -> str:
    rows = newest(records.read("search_budget"), "search")
    if not rows:
        found = records.read("supernet")[-1]
        return f"Shapes cut from a supernet rank as when trained alone: Spearman's correlation {found['correlation']:.2f} over {len(found['shapes'])}."
    one = rows[-1]["selected"]
    return (
        f"{rows[-1]['name']}: {one['bytes'] / 1e6:.1f} MB with {one['test']['kept']:.1%} of the source's score on test rows, found in "
        f"{rows[-1]['spent']['seconds'] / 60:.0f} minutes."
    )


PAGE = Page(
    "search",
    "Searching under limits",
    "Compression",
    headline,
    (
        Section("search_budget", "Searches", searches),
        Section("search_budget", "Samplers at equal joules", samplers),
        Section("search_budget", "Predictions", predictions),
        Section("supernet", "Cut from a supernet, or trained alone", supernets),
    ),
)
