"""What a run gave, as report.json, report.html and report.md. Reads files only; needs no torch."""

from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.core.run_folder import VerifiedRun


def write(run_folder: Path, per_day: float | None = None) -> Json:
    """Writes the three reports and the models' cards into the run folder and returns the content of report.json.

    `per_day` is how many texts will be answered a day: the payback then also tells days, and what a year saves.
    """
    from niwaki.core import files
    from niwaki.core.documents import write_document
    from niwaki.core.run_folder import REPORT, open_run
    from niwaki.report.card import write_cards
    from niwaki.report.markdown import markdown
    from niwaki.report.page import page

    run_folder = Path(run_folder)
    verified = open_run(run_folder, full=True)
    report = {**content(verified, per_day), "sources": verified.sources()}
    html, text = page(report), markdown(report)  # all made before any is written: old and new are not mixed by a fault
    report = write_document(run_folder / REPORT, report)
    files.write_text(run_folder / "report.html", html)
    files.write_text(run_folder / "report.md", text)
    write_cards(report, run_folder)
    return report


def write_search(folder: Path, content: Json) -> None:
    """Writes search.json and search.html into the folder of a search."""
    from niwaki.core import files
    from niwaki.core.documents import write_document
    from niwaki.report.search_page import search_page

    page = search_page(content)
    write_document(folder / "search.json", content)
    files.write_text(folder / "search.html", page)


def build(run_folder: Path, per_day: float | None = None) -> Json:
    """The content of report.json, without writing anything."""
    from niwaki.core.run_folder import open_run

    return content(open_run(Path(run_folder), full=True), per_day)


def content(verified: "VerifiedRun", per_day: float | None = None) -> Json:
    """What the report of a verified run says."""
    from niwaki.report.baseline_rows import with_gains
    from niwaki.report.facts import facts
    from niwaki.report.run_files import read_run
    from niwaki.report.verdict import verdict
    from niwaki.report.worth import payback_of

    run = read_run(verified)
    known = facts(run)
    known["verdict"] = verdict(known)
    known["baselines"] = with_gains(known)
    known["payback"] = payback_of(known, run, per_day)
    return known
