"""Do you need a transformer here? Every answer, from synthetic runs."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from niwaki import report
from niwaki.core import files

from .runs import add_baselines, add_comparisons, add_seeds, change, make_run, score

BASELINE = "TF-IDF + linear SVM"  # 76.7 % (74.2–79.2 %); the best stage, teacher, 83.6 % (81.4–85.8 %)


def answer(run: Path, *ends: float) -> dict[str, Any]:
    """The verdict after the best stage was compared with the baseline."""
    add_baselines(run, BASELINE)
    if ends:
        add_comparisons(run, ("teacher", BASELINE, *ends))
    verdict = report.write(run)["verdict"]
    sentence = verdict["transformer"]["sentence"]
    html, text = (run / "report.html").read_text(), (run / "report.md").read_text()
    assert f'<p class="answer">{sentence}</p>'.replace(" %", "\u00a0%") in html
    assert f"\n## Do you need a transformer here?\n\n{sentence}\n" in text
    return dict(verdict)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "demo", ["teacher", "int8"])


def test_transformer_is_needed(run: Path) -> None:
    verdict = answer(run, 0.069, 0.044, 0.094)
    assert verdict["transformer"]["needed"] == "yes" and verdict["transformer"]["gain"] == 0.069
    assert verdict["transformer"]["sentence"] == (
        f"Yes: teacher, the best stage, scores 83.6 %, {BASELINE} 76.7 %; "
        "on the same test rows a gain of 6.9 points (4.4 to 9.4) is shown."
    )
    assert verdict["sentence"].startswith("Deploy int8: it keeps 98.1 %")
    assert verdict["sentence"].endswith(f". The best stage gains 6.9 points (4.4 to 9.4) over {BASELINE}.")


def test_no_difference_shown(run: Path) -> None:
    # the single intervals are apart; compared on the same rows nothing is shown, and that decides
    verdict = answer(run, 0.012, -0.002, 0.026)
    assert verdict["transformer"]["needed"] == "not shown"
    assert verdict["transformer"]["sentence"] == (
        f"No difference shown: teacher, the best stage, scores 83.6 %, {BASELINE} 76.7 %; "
        "on the same test rows that is +1.2 points (−0.2 to +2.6)."
    )
    assert verdict["sentence"].startswith(f"{BASELINE} would do; if it must be a transformer, deploy int8: it keeps")


def test_baseline_is_better(run: Path) -> None:
    verdict = answer(run, -0.02, -0.031, -0.009)
    assert verdict["transformer"]["needed"] == "no"
    assert verdict["transformer"]["sentence"] == (
        f"No, {BASELINE} is better: teacher, the best stage, scores 83.6 %, {BASELINE} 76.7 %; "
        "on the same test rows a loss of 2.0 points (0.9 to 3.1) is shown."
    )
    assert verdict["sentence"].startswith(f"{BASELINE} is better; if it must be a transformer, deploy int8: it keeps")


@pytest.mark.parametrize("ends", [(), (0.069, 0.08, 0.09)], ids=["not compared", "an interval that holds nothing"])
def test_intervals_decide_without_a_comparison(run: Path, ends: tuple[float, ...]) -> None:
    verdict = answer(run, *ends)
    assert verdict["transformer"]["sentence"] == (
        f"Yes: {BASELINE} scores 76.7 % (74.2–79.2 %), teacher, the best stage, 83.6 % (81.4–85.8 %), "
        "and the intervals are apart."
    )
    assert verdict["sentence"].endswith("smaller.")


def test_the_mean_over_seeds_is_compared(run: Path) -> None:
    add_seeds(run, {1: {"teacher": 0.830, "int8": 0.82}, 2: {"teacher": 0.833, "int8": 0.82}})
    assert (
        "teacher, the best stage, scores 83.3 % ± 0.3 (3 seeds), TF-IDF"
        in answer(run, 0.066, 0.044, 0.094)["transformer"]["sentence"]
    )


def test_what_the_deployed_stage_gains_is_a_reason(run: Path) -> None:
    add_baselines(run, BASELINE)
    add_comparisons(run, ("teacher", BASELINE, 0.069, 0.044, 0.094), ("int8", BASELINE, 0.01, -0.01, 0.03))
    reasons = report.write(run)["verdict"]["reasons"]
    assert f"int8 against {BASELINE}: +1.0 points (−1.0 to +3.0): no difference shown." in reasons


def test_without_a_baseline_or_a_stage(run: Path) -> None:
    for stage in run.glob("stages/*"):
        shutil.rmtree(stage)
    report.write(run)
    assert "Not known: stages and baseline are not both scored yet." in (run / "report.html").read_text()
    (run / "baseline.json").unlink()
    (run / "report.json").unlink()
    report.write(run)
    assert "Not known: no baseline without a transformer was run." in (run / "report.md").read_text()


FROZEN = "frozen encoder"  # 78.0 %


@pytest.mark.parametrize("best", [FROZEN, BASELINE], ids=["chosen by an older niwaki", "as now"])
def test_a_frozen_encoder_never_says_that_no_transformer_is_needed(run: Path, best: str) -> None:
    """It is better than every stage, and still a transformer: the question is answered by the best baseline without one."""
    add_baselines(run, best)
    add_comparisons(run, ("teacher", FROZEN, -0.02, -0.03, -0.01), ("teacher", BASELINE, 0.069, 0.044, 0.094))
    verdict = report.write(run)["verdict"]
    assert verdict["transformer"]["needed"] == "yes" and FROZEN not in verdict["transformer"]["sentence"]
    assert verdict["sentence"].startswith("Deploy ") and FROZEN not in verdict["sentence"]


@pytest.mark.parametrize(
    ("ends", "needed", "words"),
    [
        ((0.056, 0.03, 0.08), "yes", "Fine-tuning is worth it: "),
        ((0.001, -0.01, 0.01), "not shown", "Fine-tuning may not be needed, but "),
        ((-0.02, -0.03, -0.01), "no", "Fine-tuning does not help here, but "),
        ((), "probably", "Fine-tuning is probably worth it: "),
    ],
)
def test_a_frozen_encoder_says_whether_fine_tuning_is_needed(run: Path, ends: tuple, needed: str, words: str) -> None:
    add_baselines(run)
    if ends:
        add_comparisons(run, ("teacher", FROZEN, *ends))
    else:
        baselines = files.read_json(run / "baseline.json")["baselines"]
        change(run / "baseline.json", baselines=[*baselines[:-1], {**baselines[-1], "score": score(0.80)}])
    verdict = report.write(run)["verdict"]["fine_tuning"]
    assert verdict["needed"] == needed and verdict["sentence"].startswith(words)
    for name in ("report.md", "report.html"):
        assert verdict["sentence"].replace(" %", "\u00a0%") in (run / name).read_text().replace(" %", "\u00a0%")


def test_baselines_that_were_not_run_are_named_with_the_reason(run: Path) -> None:
    add_baselines(run)
    baselines = files.read_json(run / "baseline.json")["baselines"][:2]
    reason = "frozen encoder: skipped, because the recipe's model is already fine-tuned"
    change(run / "baseline.json", baselines=baselines, skipped={"frozen": reason})
    result = report.write(run)
    assert result["baselines_not_run"] == [reason] and result["verdict"]["fine_tuning"] is None
    assert f"- {reason}." in (run / "report.md").read_text()
    assert "model is already fine-tuned" in (run / "report.html").read_text()


def test_without_a_baseline_that_is_free_of_transformers_nothing_is_answered(run: Path) -> None:
    add_baselines(run)
    baselines = files.read_json(run / "baseline.json")["baselines"][3:]
    change(run / "baseline.json", baselines=baselines, name=FROZEN, kind="frozen")
    result = report.write(run)
    assert result["baseline"] is None and result["verdict"]["transformer"] is None
