"""The top of the report: title, figures with their ranges, and code that runs, from synthetic runs."""

import ast
import shutil
from pathlib import Path

import pytest

from niwaki import report
from niwaki.core import files
from niwaki.report.headline import Tile, headline

from .runs import add_baselines, add_comparisons, change, make_full, make_run, write


def tiles(run: Path) -> dict[str, Tile]:
    return {tile.name: tile for tile in headline(report.build(run)).tiles}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "demo")


def test_every_figure_has_its_range_and_both_sides(run: Path) -> None:
    found = tiles(run)
    assert list(found) == ["of the best accuracy kept", "smaller", "faster", "less energy"]
    # 0.8205 of 0.836 is 98.15 %; its interval, 0.7975 to 0.8435, divided by 0.836
    assert found["of the best accuracy kept"] == Tile(
        "98.1 %", "of the best accuracy kept", "82.0 % instead of 83.6 %", "95.4–100.9 %"
    )
    assert found["smaller"] == Tile("6.2×", "smaller", "14.6 MB instead of 90.9 MB")
    assert found["faster"] == Tile("13.8×", "faster", "2,900 texts/s instead of 210 texts/s", "13.4–14.2×")


def test_retention_range_comes_from_the_paired_comparison(run: Path) -> None:
    add_comparisons(run, ("int8", "teacher", -0.0155, -0.030, -0.001))
    # (0.836 − 0.030) ÷ 0.836 and (0.836 − 0.001) ÷ 0.836
    assert tiles(run)["of the best accuracy kept"].range == "96.4–99.9 %"


def test_ratio_below_one_is_inverted(run: Path) -> None:
    race = files.read_json(run / "speed.json")
    race["contenders"]["int8"]["ratio"] = {"value": 0.5, "low": 0.4, "high": 0.8}
    write(run / "speed.json", race)
    assert tiles(run)["slower"].value == "2.0×" and tiles(run)["slower"].range == "1.2–2.5×"


def test_unmeasured_values_have_no_tile(run: Path) -> None:
    (run / "speed.json").unlink()
    result = headline(report.build(run))
    assert [tile.name for tile in result.tiles] == ["of the best accuracy kept", "smaller"]
    assert "unknown" not in str(result)


def test_a_single_stage(tmp_path: Path) -> None:
    result = headline(report.build(make_run(tmp_path / "one", ["teacher"])))
    assert result.title == "Deploy teacher" and result.lead == "The only finished model of this run."
    assert result.tiles[0] == Tile("83.6 %", "accuracy", "the highest of this run", "81.4–85.8 %")


def test_a_baseline_that_is_as_good_is_the_recommendation(run: Path) -> None:
    add_baselines(run, "TF-IDF + linear SVM")
    add_comparisons(run, ("teacher", "TF-IDF + linear SVM", 0.012, -0.002, 0.026))
    result = headline(report.build(run))
    assert result.title == "Try TF-IDF + linear SVM first"
    assert result.lead.endswith("If it must be a transformer, deploy int8.")


def test_nothing_is_finished(run: Path) -> None:
    for stage in run.glob("stages/*"):
        shutil.rmtree(stage)
    result = headline(report.build(run))
    assert result.title == "Nothing to deploy yet" and not result.tiles and not result.code


def test_headline_names_the_seeds(tmp_path: Path) -> None:
    result = tiles(make_full(tmp_path / "full"))
    assert result["of the best accuracy kept"].detail == "82.3 % ± 0.3 (3 seeds) instead of 83.9 %"


@pytest.mark.parametrize("answer", ["label", "span", "choice", "tags", None])
def test_the_code_is_python_and_loads_the_folder_of_the_report(run: Path, answer: str | None) -> None:
    task = files.read_json(run / "plan.json")["task"]
    change(run / "plan.json", task={**task, "answer": answer})
    code = headline(report.build(run)).code
    assert len(ast.parse(code).body) == 2 and 'niwaki.load(".").predict(' in code
