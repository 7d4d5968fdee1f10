"""What a run gave, as report.json, report.html and report.md. Reads files only; needs no torch."""

from pathlib import Path
from typing import Any


def write(run_folder: Path) -> dict[str, Any]:
    """Writes the three reports into the run folder and returns the content of report.json."""
    from niwaki.core import files
    from niwaki.report.markdown import markdown
    from niwaki.report.page import page

    run_folder = Path(run_folder)
    report = build(run_folder)
    html, text = page(report), markdown(report)  # all made before any is written: old and new are not mixed by a fault
    files.write_json(run_folder / "report.json", report)
    files.write_text(run_folder / "report.html", html)
    files.write_text(run_folder / "report.md", text)
    return report


def build(run_folder: Path) -> dict[str, Any]:
    """The content of report.json, without writing anything."""
    from niwaki.report.facts import facts
    from niwaki.report.folder import mapping, read
    from niwaki.report.verdict import verdict
    from niwaki.report.worth import repay

    run = read(Path(run_folder))
    known = facts(run)
    known["verdict"] = verdict(known)
    known["payback"] = repay(known, mapping(run.speed.get("contenders")))
    return known
