"""The report page in a real browser: what is on the first screen, sizes, overlaps, contrast, and print.

Needs chromium and poppler-utils. Every kind of run is looked at on a laptop, on a phone, in both themes and on A4 paper.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from niwaki import report

from .browser import Browser, program
from .runs import add_baselines, add_comparisons, make_full, make_many, make_run

pytestmark = pytest.mark.slow
MEASURE = (Path(__file__).parent / "measure.js").read_text()
SCREENS = {"laptop": (1280, 720), "phone": (390, 844)}
A4 = (703, 994)  # pixels inside the page's margins
KINDS = ("full", "one stage", "no energy", "no speed", "many stages", "long names", "baseline wins", "nothing finished")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    run = make(request.param, tmp_path / "run", monkeypatch)
    report.write(run)
    return run / "report.html"


def make(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if kind == "full":
        return make_full(folder)
    if kind in ("many stages", "long names"):
        names = "stage {}" if kind == "many stages" else "a-rather-long-stage-name-for-distilling-{}-layers"
        return make_many(folder, monkeypatch, names)
    run = make_run(folder, ["teacher"] if kind == "one stage" else None, energy=kind != "no energy")
    if kind == "no speed":
        (run / "speed.json").unlink()
    if kind == "nothing finished":
        for stage in run.glob("stages/*"):
            shutil.rmtree(stage)
    if kind == "baseline wins":
        add_baselines(run, "TF-IDF + linear SVM")
        add_comparisons(run, ("teacher", "TF-IDF + linear SVM", 0.012, -0.002, 0.026))
    return run


@pytest.mark.parametrize(("page", "kind"), [(kind, kind) for kind in KINDS], indirect=["page"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_page_on_screens(browser: Browser, page: Path, kind: str, screen: str, theme: str) -> None:
    browser.show(*SCREENS[screen], theme)
    browser.open(page)
    found = browser.evaluate(MEASURE)
    assert found.pop("texts") > 30, "nothing was measured"
    assert found.pop("parts") == (2 if kind == "nothing finished" else 4), "title, lead, figures and code"
    assert found == {"fold": [], "small": [], "wide": [], "overlaps": [], "faint": []}


@pytest.mark.parametrize("page", ["full"], indirect=True)
@pytest.mark.parametrize("width", [320, 480, 600, 601, 768, 1000, 1100, 1101, 1920])
def test_page_at_intermediate_widths(browser: Browser, page: Path, width: int) -> None:
    browser.show(width, 900)
    browser.open(page)
    found = browser.evaluate(MEASURE)
    assert found["wide"] == found["overlaps"] == []
    assert found["small"] == [] or width < 340


@pytest.mark.parametrize("page", KINDS, indirect=True)
def test_printed_page(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.show(*A4, "dark", media="print")  # dark screens print on white paper, too
    browser.open(page)
    found = browser.evaluate(MEASURE.replace("small(11)", "small(10)"))  # 7.5 points
    assert found["small"] == found["wide"] == found["overlaps"] == found["faint"] == []
    browser.print(tmp_path / "page.pdf")
    pages = words(tmp_path / "page.pdf")
    assert pages and all(left >= 30 and right <= 565 for sheet in pages for left, right, _ in sheet)


@pytest.mark.parametrize("page", ["full", "long names"], indirect=True)
def test_tables_are_not_split_on_paper(browser: Browser, page: Path, tmp_path: Path) -> None:
    browser.show(*A4, media="print")
    browser.open(page)
    browser.print(tmp_path / "page.pdf")
    command = [program("pdftotext"), tmp_path / "page.pdf", "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    sheets = [" ".join(sheet.split()) for sheet in text.split("\f")]
    baselines = [sheet for sheet in sheets if "majority class" in sheet]
    assert len(baselines) == 1
    assert all(
        part in baselines[0] for part in ("time to train", "averaged static vectors", "frozen encoder", "deployed")
    )


@pytest.mark.parametrize("page", ["full"], indirect=True)
def test_points_show_their_figures_and_the_page_reports_no_error(browser: Browser, page: Path) -> None:
    browser.show(*SCREENS["laptop"])
    browser.open(page)
    point = "document.querySelector('.wide .point.chosen')"
    shown = browser.evaluate(f"{point}.focus(), document.getElementById('tip').textContent")
    assert shown.startswith("int8\naccuracy 82.3 %")
    lit = browser.evaluate("[...document.querySelectorAll('tr.lit')].map(row => row.dataset.stage)")
    assert set(lit) == {"int8"}


def words(path: Path) -> list[list[tuple[float, float, str]]]:
    """Of each page of a PDF the words with their left and right ends, in points."""
    text = subprocess.run([program("pdftotext"), "-bbox", path, "-"], check=True, capture_output=True, text=True).stdout
    found = re.compile(r'<word xMin="([\d.-]+)" yMin="[\d.-]+" xMax="([\d.-]+)" yMax="[\d.-]+">(.*?)</word>')
    return [[(float(a), float(b), word) for a, b, word in found.findall(sheet)] for sheet in text.split("<page ")[1:]]
