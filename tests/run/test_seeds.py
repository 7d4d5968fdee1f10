"""Several seeds in one recipe: every stage with each, the comparisons by hand, the report over all, nothing finished_run twice."""

import json
import os
import statistics
from pathlib import Path

import numpy as np
import pytest

from niwaki import api
from niwaki.evaluate.quality import difference
from niwaki.report.card import CARD, LABEL
from niwaki.run.plan import make_plan
from niwaki.run.recipe import read

RECIPE = """\
model = {model}
task = "classification"
quantize = []
data = {{ path = {rows}, max_tokens = 24, test = 0.3 }}
seeds = [0, 1]

[[stages]]
name = "teacher"
train = {{ epochs = 1.5, lr = 2e-3, batch = 16 }}

[[stages]]
name = "small"
teacher = "teacher"
methods = [{{ use = "student", layers = 1 }}, {{ use = "logits" }}]
train = {{ epochs = 0.5, lr = 1e-3, batch = 16 }}
"""


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory, bert_folder, rows_csv) -> tuple[Path, Path]:
    """The recipe and the folder of its run."""
    recipe = tmp_path_factory.mktemp("seeds") / "two.toml"
    recipe.write_text(RECIPE.format(model=json.dumps(str(bert_folder)), rows=json.dumps(str(rows_csv))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        return recipe, api.run(recipe, out=recipe.parent / "run").folder


def stages(folder: Path) -> list[dict]:
    """Both seeds' stages as the plan lists them, the first seed's first."""
    plan = json.loads((folder / "plan.json").read_text())
    return [plan["stages"], *(repeat["stages"] for repeat in plan["repeats"])]


def scores(folder: Path) -> dict[str, list[float]]:
    """Stage → its score with each seed, read from the stages themselves."""
    found: dict[str, list[float]] = {}
    for of_seed in stages(folder):
        for stage in of_seed:
            result = json.loads((folder / stage["folder"] / "result.json").read_text())
            found.setdefault(stage["name"], []).append(result["score"]["value"])
    return found


def test_every_stage_exists_for_every_seed(finished_run):
    _, folder = finished_run
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["seeds"] == [0, 1] and [repeat["seed"] for repeat in plan["repeats"]] == [1]
    first, second = stages(folder)
    folders = [stage["folder"] for stage in (*first, *second)]
    assert len(set(folders)) == 4 == len(list((folder / "stages").iterdir()))
    for one, two in zip(first, second, strict=True):
        weights = [(folder / stage["folder"] / "model" / "model.safetensors").read_bytes() for stage in (one, two)]
        assert one["key"] != two["key"] and weights[0] != weights[1]


def test_a_seed_in_a_list_is_the_seed_alone(finished_run):
    """So a table of several seeds can go on from a run of one."""
    recipe, folder = finished_run
    for number, of_seed in enumerate(stages(folder)):
        alone = make_plan(read(recipe, ["seeds=[]", f"seed={number}"]), "x")
        assert [stage.key for stage in alone.stages] == [stage["key"] for stage in of_seed]


def test_the_spread_by_hand(finished_run):
    _, folder = finished_run
    found = json.loads((folder / "comparisons.json").read_text())
    assert found["metric"] == "accuracy" and found["spread"].keys() == scores(folder).keys()
    for name, values in scores(folder).items():
        spread = found["spread"][name]
        assert spread["seeds"] == [0, 1] and spread["values"] == pytest.approx(values)
        assert spread["mean"] == pytest.approx((values[0] + values[1]) / 2)
        assert spread["sd"] == pytest.approx(statistics.stdev(values))


def test_the_pairs_by_hand(finished_run):
    """Each stage against the first, against the best one, and against the best baseline."""
    recipe, folder = finished_run
    found = json.loads((folder / "comparisons.json").read_text())
    baseline = json.loads((folder / "baseline.json").read_text())
    means = {name: sum(values) / 2 for name, values in scores(folder).items()}
    means[baseline["name"]] = baseline["score"]["value"]
    names = ["teacher", "small"]
    others = {"teacher", max(names, key=means.get), baseline["name"]}
    wanted = {(name, other) for other in others for name in names if name != other}
    assert {(pair["a"], pair["b"]) for pair in found["pairs"]} == wanted
    for pair in found["pairs"]:
        assert pair["difference"] == pytest.approx(means[pair["a"]] - means[pair["b"]])
        assert pair["low"] <= pair["difference"] <= pair["high"]
        assert pair["shown"] == (not pair["low"] <= 0 <= pair["high"])
    task = make_plan(read(recipe), "x").task
    stats = {
        name: [
            np.load(folder / of_seed[place]["folder"] / "example_stats.npy", allow_pickle=False)
            for of_seed in stages(folder)
        ]
        for place, name in enumerate(["teacher", "small"])
    }
    again = difference(task, stats["small"], stats["teacher"])
    (pair_of_small,) = [pair for pair in found["pairs"] if pair["b"] == "teacher"]
    assert {key: pair_of_small[key] for key in again} == again


def test_the_report_tells_all_seeds(finished_run):
    _, folder = finished_run
    report = json.loads((folder / "report.json").read_text())
    for stage in report["stages"]:
        values = scores(folder)[stage["name"]]
        assert stage["score"] == pytest.approx(sum(values) / 2)
        assert stage["seeds"]["values"] == pytest.approx(values) and stage["seeds"]["seeds"] == [0, 1]
    assert "(2 seeds)" in (folder / "report.html").read_text() and "(2 seeds)" in (folder / "report.md").read_text()
    assert report["comparisons"]


def test_a_second_run_makes_nothing_anew(finished_run):
    recipe, folder = finished_run

    def times():
        files = [path for path in folder.glob("stages/**/*") if path.is_file() and path.name not in (CARD, LABEL)]
        files += [
            folder / name
            for name in ("baseline.json", "baseline.npy", "comparisons.json", "speed.json", "ledger.jsonl")
        ]
        return {path: path.stat().st_mtime_ns for path in files}

    before = times()
    api.run(recipe, out=folder)
    assert times() == before


@pytest.mark.parametrize(("seeds", "words"), [('["a"]', "seeds"), ("3", "seeds")])
def test_seeds_that_are_none(finished_run, seeds, words):
    from niwaki.core.errors import InputError

    with pytest.raises(InputError, match=words):
        read(finished_run[0], [f"seeds={seeds}"])
