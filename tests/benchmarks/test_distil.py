"""The distillation benchmark: its variants, and its rendered section."""

import importlib
import math
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROTTEN_TOMATOES_ROWS = 6398


@pytest.fixture
def distil(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    module = importlib.import_module("distil")
    monkeypatch.setattr(
        importlib.import_module("distil_variants"), "imdb_sentences", lambda rows, seed: ["One.", "Two\nlines."]
    )
    return module


@pytest.fixture
def rendered(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("render_distil").distil


def record(variant, task, student, pairs=None, **more):
    return {
        "variant": variant,
        "task": task,
        "seed": 0,
        "scores": {"teacher": 0.8, "student": student},
        "intervals": {"teacher": [0.78, 0.82], "student": [student - 0.02, student + 0.02]},
        "bytes": [800, 100],
        "faster": {"value": 9.0},
        "steps": [2000],
        "pairs": pairs or {},
        **more,
    }


def pair(low, high, seeds=1):
    return {
        "score": {"value": 0.7, "low": 0.68, "high": 0.72},
        "seeds": seeds,
        "difference": (low + high) / 2,
        "low": low,
        "high": high,
        "shown": not low <= 0 <= high,
    }


@pytest.mark.parametrize("task", ["rotten_tomatoes", "sst2"])
@pytest.mark.parametrize("kind", ["bilstm", "averaging"])
def test_controls_differ_from_the_student_only_in_the_teacher(distil, kind, task):
    (taught,), *others = (distil.VARIANTS[name](task) for name in (kind, *distil.CONTROLS[kind]))
    assert others[0] == others[1] and len(others[0]) == 1  # these two differ in the model that they start from
    assert f"{kind}-labels" in distil.PRETRAINED and f"{kind}-vectors" not in distil.PRETRAINED
    alone = others[0][0]
    assert "teacher" not in alone and taught["methods"] == [*alone["methods"], {"use": "logits"}]
    assert alone["train"] == {
        key: value for key, value in taught["train"].items() if key not in ("unlabelled", "unlabelled_path")
    }
    if task == "sst2":
        assert Path(taught["train"]["unlabelled_path"]).read_text(encoding="utf-8").splitlines() == [
            "One.",
            "Two lines.",
        ]


def test_every_number_of_unlabelled_texts_trains_the_same_number_of_steps(distil):
    for size in distil.SIZES:
        train = distil.VARIANTS[f"transfer-{size}"]("rotten_tomatoes")[0]["train"]
        steps = round(train["epochs"] * math.ceil((ROTTEN_TOMATOES_ROWS + size) / 32))
        assert train["unlabelled"] == size and abs(steps - importlib.import_module("distil_variants").SIZE_STEPS) <= 10
        assert 16 <= train["epochs"] * train["validations"] <= 23


def test_every_job_has_a_variant_and_is_listed_once(distil):
    jobs = distil.everything()
    assert len(set(jobs)) == len(jobs) and {job[0] for job in jobs} <= set(distil.VARIANTS)
    for job in [
        ("bilstm", "rotten_tomatoes", 2),
        ("averaging", "sst2", 0),
        ("mpnet4", "mrpc", 0),
        ("transfer-5000", "rotten_tomatoes", 0),
    ]:
        assert job in jobs
    assert not {job[0] for job in jobs} & {
        name for names in distil.CONTROLS.values() for name in names if name not in ("transfer-0", "half")
    }


def test_a_gain_is_significant_if_its_interval_is_above_zero(rendered):
    def rows(low, high):
        pairs = {"bilstm-labels": pair(low, high), "bilstm-vectors": pair(-0.01, 0.03)}
        return [record("bilstm", "sst2", 0.75, pairs)]

    good, none, worse = (rendered(rows(*ends)) for ends in ((0.01, 0.05), (-0.01, 0.05), (-0.05, -0.01)))
    assert "| +3.0 (+1.0 to +5.0) | +1.0 (-1.0 to +3.0): no difference shown |" in good
    assert "| BiLSTM, SST-2 | 1 | 80.0 | 70.0 (68.0 to 72.0) | 70.0 (68.0 to 72.0) | 75.0 (73.0 to 77.0) |" in good
    assert "over labels: 1 of 1" in good and "over labels: 0 of 1" in none and "over labels: 0 of 1" in worse


def test_the_difference_over_the_most_seeds_is_rendered(rendered):
    few, many = (
        {"averaging-labels": pair(low, 0.05, seeds), "averaging-vectors": pair(low, 0.05, seeds)}
        for low, seeds in ((-0.01, 1), (0.03, 2))
    )
    rows = [record("averaging", "sst2", 0.75, few), {**record("averaging", "sst2", 0.77, many), "seed": 1}]
    assert "| averaging, SST-2 | 2 | 80.0 ± 0.0 |" in rendered(rows)
    assert "| 76.0 (74.0 to 78.0) | +4.0 (+3.0 to +5.0) |" in rendered(rows)
    assert "| 76.0 (74.0 to 78.0) | +4.0 (+3.0 to +5.0) |" in rendered(rows[::-1])


def test_ablations_are_rendered_with_their_paired_difference(rendered):
    """The difference is over the most seeds that can be paired; their number is shown if it is not all."""
    whole = record("half", "mrpc", 0.78, encoder=[2, 1], flops=[2, 1])
    rows = [record("half-no-hidden", "mrpc", 0.76, {"half": pair(-0.04, -0.01)})]
    assert "| without the hidden-state loss | not measured |  | 76.0 (1) | -2.5 (-4.0 to -1.0) |" in rendered(
        [whole, *rows]
    )
    rows += [{**record("half-no-hidden", "mrpc", 0.78, {"half": pair(-0.03, 0.01, 2)}), "seed": 1}]
    rows += [{**record("half-no-hidden", "mrpc", 0.80), "seed": 2}]
    assert "| 78.0 ± 2.0 (3) | -1.0 (-3.0 to +1.0): no difference shown (2 of 3 seeds) |" in rendered([whole, *rows])


def test_ratios_are_compared_with_their_targets(rendered):
    text = rendered([record("mpnet4", "mrpc", 0.72)])
    assert "| 90.0 %: 6.8 points short | 8.0 ×: met | 9.0 ×: 0.4 × short |" in text
    assert "| 96.8 %: met |" in rendered([record("mpnet4", "mrpc", 0.8 * 0.9681)])


def test_numbers_of_unlabelled_texts_are_rendered_in_order(rendered):
    rows = [record("transfer-10000", "rotten_tomatoes", 0.78, {"transfer-0": pair(0.0, 0.04)})]
    rows += [record("transfer-2500", "rotten_tomatoes", 0.77, {"transfer-0": pair(0.01, 0.03)})]
    lines = rendered([*rows, record("transfer-0", "rotten_tomatoes", 0.76)]).splitlines()
    start = lines.index("| unlabelled texts | accuracy | share of the teacher's | gain |") + 2
    assert lines[start : start + 3] == [
        "| 0 | 76.0 (74.0 to 78.0) | 95.0% |  |",
        "| 2,500 | 77.0 (75.0 to 79.0) | 96.2% | +2.0 (+1.0 to +3.0) |",
        "| 10,000 | 78.0 (76.0 to 80.0) | 97.5% | +2.0 (+0.0 to +4.0): no difference shown |",
    ]
