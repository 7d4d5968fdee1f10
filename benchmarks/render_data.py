"""Renders the page on reading data: an unusual CSV file, and the speed of tokenization."""

import statistics

import records
from results_page import Page, Records, Section


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


def headline() -> str:
    rates = next(row for row in reversed(records.read("features")) if "speed" in row)["speed"]["per_second"]
    return f"Training sentences are tokenized at {statistics.median(rates):,.0f} per second in constant memory; columns of an unusual CSV file are recognized."


PAGE = Page(
    "data",
    "Reading data",
    "Speed",
    headline,
    (
        Section("odd_csv", "An unusual CSV file", unusual_csv),
        Section("features", "Tokenization of training data", features),
    ),
)
