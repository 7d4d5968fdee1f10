"""Facts of a report, by hand from the files of a run."""

import pytest

from niwaki.core.run_folder import open_run
from niwaki.report.facts import facts, ratio_of
from niwaki.report.run_files import read_run

from .runs import BYTES, SPEEDS, add_baselines, add_parts, add_seeds, change, make_run


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "demo")


def of(run):
    return facts(read_run(open_run(run)))


def stage_of(found, name):
    return next(stage for stage in found["stages"] if stage["name"] == name)


def test_figures_of_a_stage_are_those_of_its_files(run):
    int8 = stage_of(of(run), "int8")
    assert (int8["score"], int8["bytes"], int8["engine"], int8["finished"]) == (0.8205, BYTES["int8"], "onnx", True)
    assert int8["throughput"] == SPEEDS["int8"] and int8["latency_ms"]["p50"] == pytest.approx(2500 / SPEEDS["int8"])
    assert int8["energy"]["per_1000"]["joules"] == pytest.approx(12_000 / SPEEDS["int8"])
    assert int8["training"]["steps"] == 640 and int8["curve"]["loss"] == []


def test_ratios_are_against_the_reference(run):
    found = of(run)
    ratios = stage_of(found, "int8")["ratios"]
    assert ratios["bytes"] == pytest.approx(BYTES["teacher"] / BYTES["int8"])
    assert ratios["throughput"] == pytest.approx(SPEEDS["int8"] / SPEEDS["reference"])
    assert ratios["latency"] == pytest.approx(SPEEDS["int8"] / SPEEDS["reference"])
    assert ratios["energy"] == pytest.approx(SPEEDS["int8"] / SPEEDS["reference"])
    assert ratios["score"] == pytest.approx(0.8205 / 0.836)
    assert found["reference"]["engine"] == "transformers" and found["reference"]["stage"] == "teacher"


def test_scores_are_shares_of_the_best_stage(run):
    found = of(run)
    assert [stage["kept"] for stage in found["stages"]] == pytest.approx(
        [1, 0.826 / 0.836, 0.822 / 0.836, 0.8205 / 0.836]
    )


@pytest.mark.parametrize(
    ("value", "whole", "ratio"),
    [(1, 2, 0.5), (None, 2, None), (1, None, None), (1, 0, None), (-1, 2, None), (1, -2, None)],
)
def test_ratios_without_a_meaning_are_null(value, whole, ratio):
    assert ratio_of(value, whole) == ratio


def test_networks_that_generate_are_compared_in_torch(run):
    task = {"name": "t", "metric": "bleu", "answer": "text"}
    change(run / "plan.json", task=task)
    assert of(run)["reference"]["engine"] == "torch"


def test_figures_of_the_engine_that_is_loaded(run):
    speed = read_run(open_run(run)).speed
    contenders = speed["contenders"]
    contenders["int8"]["loaded"] = {
        **contenders["int8"],
        "engine": "native",
        "score": 0.82,
        "throughput": {"value": 9000.0},
    }
    change(run / "speed.json", contenders=contenders)
    found = of(run)
    int8, teacher = stage_of(found, "int8"), stage_of(found, "teacher")
    assert (int8["loaded"]["engine"], int8["loaded"]["score"], int8["loaded"]["throughput"]) == ("native", 0.82, 9000)
    assert int8["throughput"] == SPEEDS["int8"] and teacher["loaded"]["engine"] == "onnx"


def test_without_a_race_nothing_is_loaded(run):
    (run / "speed.json").unlink()
    found = of(run)
    assert found["race"] is None and all(stage["loaded"] is None for stage in found["stages"])
    assert stage_of(found, "int8")["ratios"]["throughput"] is None


def test_unfinished_stages_and_repeats_are_named(run):
    add_seeds(run, {1: {"teacher": 0.83, "student": 0.82}})
    found = of(run)
    assert found["unfinished"] == ["pruned (seed 1)", "int8 (seed 1)"]
    assert stage_of(found, "teacher")["score"] == pytest.approx((0.836 + 0.83) / 2)


def test_further_test_sets_have_their_own_score(run):
    add_parts(run, "mismatched", 0.8)
    part = stage_of(of(run), "int8")["parts"]["mismatched"]
    assert (part["metric"], part["score"]) == ("accuracy", 0.8)


def test_methods_are_those_of_the_chosen_alternative(run):
    plan = read_run(open_run(run)).plan
    plan["stages"][3]["alternatives"] = [{"methods": [{"use": "rtn"}]}]
    change(run / "plan.json", stages=plan["stages"])
    change(run / plan["stages"][3]["folder"] / "result.json", choice={"chosen": 1})
    assert stage_of(of(run), "int8")["methods"] == [{"use": "rtn"}]


def test_baselines_and_their_best_one(run):
    add_baselines(run)
    found = of(run)
    assert found["baseline"]["score"] == 0.767 and len(found["baselines"]) == 4


def test_the_run_can_be_reproduced_from_what_is_stated(run):
    found = of(run)["reproduce"]
    assert found["recipe"].startswith('model = "minilm"') and found["seed"] == 13 and found["place"] is None
    assert found["versions"]["torch"] == "2.13.0" and found["other_versions"] == {}


def test_stages_of_other_package_versions_are_named(run):
    stages = read_run(open_run(run)).plan["stages"]
    for stage, version in zip(stages, ("2.13.0", "2.13.0", "2.14.0", "2.13.0"), strict=True):
        change(run / stage["folder"] / "result.json", versions={"torch": version})
    assert of(run)["reproduce"]["other_versions"] == {"pruned": {"torch": "2.14.0"}}
