"""What a run gave, as report.json, report.html and report.md. Reads files only; needs no torch."""

from pathlib import Path
from typing import Any


def write(run_folder: Path, per_day: float | None = None) -> dict[str, Any]:
    """Writes the three reports and the models' cards into the run folder and returns the content of report.json.

    `per_day` is how many texts will be answered a day: the payback then also tells days, and what a year saves.
    """
    from niwaki.core import files
    from niwaki.report.card import write_cards
    from niwaki.report.markdown import markdown
    from niwaki.report.page import page

    run_folder = Path(run_folder)
    report = build(run_folder, per_day)
    html, text = page(report), markdown(report)  # all made before any is written: old and new are not mixed by a fault
    files.write_json(run_folder / "report.json", report)
    files.write_text(run_folder / "report.html", html)
    files.write_text(run_folder / "report.md", text)
    write_cards(report, run_folder)
    return report


def build(run_folder: Path, per_day: float | None = None) -> dict[str, Any]:
    """The content of report.json, without writing anything."""
    from niwaki.report.facts import facts
    from niwaki.report.folder import read
    from niwaki.report.ladder import climb
    from niwaki.report.verdict import verdict
    from niwaki.report.worth import repay

    run = read(Path(run_folder))
    known = facts(run)
    known["verdict"] = verdict(known)
    known["ladder"] = climb(known)
    known["payback"] = repay(known, run, per_day)
    return known
