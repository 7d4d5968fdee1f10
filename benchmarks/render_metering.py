"""Renders the page on the energy meter: its cost, its intervals, and other meters."""

import meter_accuracy
import meters
import records
from results_page import Page, Record, Records, Section


def no_footer(row: Record) -> str:
    """The tables of this page end with their own note."""
    return ""


def windows(rows: Records) -> str:
    return f"Command: `python benchmarks/meter_accuracy.py windows`. CPU time of one measured window.\n\n{meter_accuracy.window_table(rows)}"


def intervals(rows: Records) -> str:
    about = "Command: `python benchmarks/meter_accuracy.py intervals`. How often the interval contained a true ratio of 2, with twenty pairs per trial, while other processes (neighbours) load a machine with two vCPUs."
    return f"{about}\n\n{meter_accuracy.interval_table(rows)}"


def other_meters(rows: Records) -> str:
    about = "Command: `python benchmarks/meters.py`. The same six jobs under each meter, each in its own environment. [Measuring energy](../measuring.md#comparison-with-other-meters) discusses the table."
    return f"{about}\n\n{meters.rendered(rows)}"


def headline() -> str:
    held = [count for row in records.read("intervals") for count in row["held"]]
    return f"An interval for the energy ratio of two models contained the true ratio in {sum(held)} of {20 * len(held)} trials."


PAGE = Page(
    "metering",
    "Measuring energy",
    "Energy and reliability",
    headline,
    (
        Section("intervals", "Intervals of energy ratios", intervals, no_footer),
        Section("windows", "Cost of a measurement", windows, no_footer),
        Section("meters", "Other meters", other_meters, no_footer),
    ),
)
