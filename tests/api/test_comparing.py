"""niwaki.compare: models, rows, groups, limits. The maths is tested in tests/evaluate/changes."""

import csv
import json

import numpy as np
import pytest

import tiny
from niwaki import api
from niwaki.api import comparing
from niwaki.api.comparing import Limits, compare
from niwaki.core.errors import InputError, UsageError
from niwaki.evaluate import quality
from niwaki.evaluate.changes import robustness


@pytest.fixture(scope="module", autouse=True)
def _few_draws():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quality, "RESAMPLES", 20)
        patch.setattr(robustness, "ROWS", 8)
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparing")
    for name, layers, seed in (("a", 2, 0), ("b", 1, 5)):
        (folder / name).mkdir()
        tiny.model("bert", layers=layers, seed=seed).save(folder / name)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "site"])
        rows.writerows(
            [text, int(label == "good"), "xyz"[number % 3]] for number, (text, label) in enumerate(tiny.sentences(160))
        )
    return path


def run(folders, data, **more):
    return compare(folders / "a", folders / "b", data=data, engine="torch", speed=False, **more)


@pytest.fixture(scope="module")
def whole(folders, data):
    """All rows, with limits that everything exceeds."""
    return run(folders, data, split="all", groups=["site"], limits=Limits(0, 0, 0))


def test_labels_by_number_and_a_group_column(whole, folders, data, tmp_path):
    found = whole
    assert found.facts["task"]["rows"] == 160
    assert {row["name"] for row in found.facts["groups"] if row["kind"] == "class"} == {"bad", "good"}
    assert sum(row["rows"] for row in found.facts["groups"] if row["kind"] == "site") == 160
    assert repr(found).startswith("A a, B b, 160 rows")
    found.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == found.html


def test_limits_name_what_exceeds_them(whole, folders, data):
    found = whole
    groups = [row for row in found.facts["groups"] if row["loss"] > 0 and row["net_rows_lost"] >= 5]
    lost = -found.facts["difference"]["difference"]
    assert groups and len(found.exceeded) == 1 + (lost > 0) + len(groups)
    assert found.exceeded[0].startswith("churn: ") and "the limit is 0 %" in found.exceeded[0]
    assert f"group {groups[0]['kind']} '{groups[0]['name']}'" in found.exceeded[-len(groups)]
    within = run(folders, data, limits=Limits(100, 100, 100))
    assert within.exceeded == [] and within.facts["task"]["rows"] == 24, "the test rows by default"
    with pytest.raises(UsageError, match=r"^max_churn: must be from 0 to 100 points \(given: 101\)"):
        Limits(max_churn=101)


@pytest.mark.parametrize("texts", [["a good film"], ["...", "电影很好 👍", "\u200bплохой фильм"], ["a good film"] * 25])
def test_held_out_rows_may_be_few_alike_and_of_one_class(folders, tmp_path, texts):
    with (tmp_path / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["text", "label", "site"], *([text, "good", "x"] for text in texts)])
    found = run(folders, tmp_path / "rows.csv", split="all", groups=["site"])
    assert found.facts["task"]["rows"] == len(texts) and found.html.startswith("<!doctype html>")
    json.dumps(found.facts, allow_nan=False)
    assert "site" in {row["kind"] for row in found.facts["groups"]}
    with pytest.raises(InputError, match=r"too few: niwaki cuts"):
        run(folders, tmp_path / "rows.csv")


def test_models_of_images_are_compared(tmp_path):
    """By class, by their layers and by their attention; images have no words."""
    draw, bright = np.random.default_rng(0), np.arange(40) % 2
    pixels = draw.integers(0, 160, (40, 9, 13, 3)) + 95 * bright[:, None, None, None]
    np.savez(tmp_path / "rows.npz", images=pixels.astype(np.uint8), labels=np.array(["bad", "good"])[bright])
    for name, layers in (("a", 2), ("b", 1)):
        (tmp_path / name).mkdir()
        tiny.model("vit", layers=layers, seed=layers, labels=["bad", "good"]).save(tmp_path / name)
    found = run(tmp_path, tmp_path / "rows.npz", split="all").facts
    assert {row["kind"] for row in found["groups"]} == {"class"}
    assert np.array(found["layers"]["similarity"]).shape == (3, 2) and found["layers"]["attention"]
    assert any(reason.startswith("Small edits") for reason in found["left_out"])
    assert found["churn"]["changed"]["count"] and "the image with digest" in found["texts"][0]["text"]


def test_seeds_are_given_for_both_models(folders, data):
    with pytest.raises(UsageError, match=r"^further seeds: give some of both models"):
        run(folders, data, a_seeds=[folders / "a"])
    found = run(folders, data, a_seeds=[folders / "a"], b_seeds=[folders / "b"])
    assert found.facts["pie"]["seeds"] == [2, 2] and found.facts["pie"]["halves"] is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": ["sight"]}, "has no column 'sight', did you mean 'site'"),
        ({"split": "tset"}, r"split 'tset': is not there, did you mean 'test'"),
        ({"task": "regression"}, "answers with a label, the task wants a number"),
    ],
)
def test_faults_of_the_input_are_named(folders, data, given, message):
    with pytest.raises(InputError, match=message):
        run(folders, data, **given)


def test_faults_of_the_call_are_named(folders, data, encoder_folder):
    with pytest.raises(UsageError, match=r"is no run; give two models to compare, or a run$"):
        compare(folders / "a", data=data)
    with pytest.raises(UsageError, match=r"a model is given as a path \(given: int\)"):
        compare(folders / "a", 3, data=data)
    with pytest.raises(UsageError, match="--stage: names a stage of a run"):
        run(folders, data, stage="x")
    with pytest.raises(InputError, match="gives embeddings, which have no predictions to compare"):
        compare(encoder_folder, encoder_folder, data=data, engine="torch", overrides=['data.classes=["bad","good"]'])


def test_names_of_equal_folders_stay_apart(folders):
    first, second = comparing.pair(folders / "a", folders / "a", [], [], "", "torch")
    assert first.name != second.name
    assert api.compare is compare
