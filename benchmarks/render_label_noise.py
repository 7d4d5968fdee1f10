"""Renders the page on finding labels that were changed on purpose."""

import statistics
from collections.abc import Callable

import records
from results_page import Page, Record, Records, Section

KEYS = ("dataset", "rows", "percent", "seed")


def latest(rows: Records) -> Records:
    """The newest record of each job."""
    return list({tuple(row[key] for key in KEYS): row for row in rows}.values())


def label_noise(rows: Records) -> str:
    found = latest(rows)
    groups = sorted({(row["rows"], row["dataset"], row["percent"]) for row in found})
    return "\n".join(
        [
            "Command: `python benchmarks/label_noise.py DATA [dataset/rows/percent/seed …]`. A share of the labels is replaced by another one at random; `niwaki check --labels` estimates the noise and lists suspicious rows. "
            "Published labels count as right, although some are wrong, so precision is a lower bound. First 10: those that the command prints. Suggested: the share of found rows whose suggested label is the one before the change. "
            "Means over seeds (each draws other rows).",
            "",
            "| dataset | rows | seeds | features | accuracy | changed | estimated noise | suspicious rows | precision | recall | precision of the first 10 | suggested label right |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
            *(
                line([row for row in found if (row["rows"], row["dataset"], row["percent"]) == group])
                for group in groups
            ),
        ]
    )


def line(rows: Records) -> str:
    cells = [
        rows[0]["dataset"],
        f"{rows[0]['rows']:,}",
        str(len(rows)),
        ", ".join(sorted({row["model"]["features"] for row in rows})),
        percent(rows, lambda row: row["model"]["accuracy"]),
        percent(rows, lambda row: row["changed"] / row["train_rows"]),
        percent(rows, lambda row: row["estimate"])
        + ("" if all(row["reliable"] for row in rows) else ", called unreliable"),
        f"{statistics.mean(row['suspects'] for row in rows):.0f}",
        *(
            percent(rows, value) if rows[0]["percent"] else "–"
            for value in (precision, recall, first_precision, suggested)
        ),
    ]
    return f"| {' | '.join(cells)} |"


def percent(rows: Records, value: Callable[[Record], float]) -> str:
    return f"{100 * statistics.mean(map(value, rows)):.0f} %"


def precision(row: Record) -> float:
    return row["hits"] / max(1, row["suspects"])


def recall(row: Record) -> float:
    return row["hits"] / max(1, row["changed"])


def first_precision(row: Record) -> float:
    return row["first_hits"] / max(1, min(10, row["suspects"]))


def suggested(row: Record) -> float:
    return row["suggested"] / max(1, row["hits"])


def headline() -> str:
    found = [row for row in latest(records.read("label_noise")) if row["percent"]]
    return (
        f"With a tenth of the labels changed, {100 * statistics.mean(map(recall, found)):.0f} % of them are listed, "
        f"and {100 * statistics.mean(map(precision, found)):.0f} % of the listed rows were changed ({len(found)} runs)."
    )


if records.read("label_noise"):  # the page exists from the first record on
    SECTIONS = (Section("label_noise", "Changed labels", label_noise),)
    PAGE = Page("label_noise", "Label noise", "Tasks", headline, SECTIONS)
