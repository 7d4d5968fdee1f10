"""Rows in memory give the run that the same rows in a file give."""

import json

import pandas as pd
import pytest

import niwaki
import tiny
from niwaki.core.errors import InputError
from niwaki.run.result import Run
from run.small import measure_little

RECIPE = (
    'model = "minilm"\ntask = "classification"\nquantize = []\n[[stages]]\nname = "tuned"\ntrain = { epochs = 0.2 }\n'
)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    tiny.model(layers=1).save(folder)
    (folder / "quick.toml").write_text(RECIPE.replace("minilm", str(folder)))
    return folder / "quick.toml"


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(tiny.sentences(80), columns=["text", "label"])


def keys(plan):
    return [stage["key"] for stage in plan["stages"]]


def test_frames_lists_and_files_have_the_same_stage_keys(recipe, frame, tmp_path):
    tiny.write_csv(tmp_path / "rows.csv", 80)
    expected = keys(niwaki.check(recipe, data=tmp_path / "rows.csv"))
    assert keys(niwaki.check(recipe, data=frame)) == expected
    assert keys(niwaki.check(recipe, data=frame["text"], y=frame["label"])) == expected
    assert keys(niwaki.check(recipe, data=frame.to_dict("records"))) == expected
    assert keys(niwaki.check(recipe, data=frame[::-1])) != expected


def test_a_run_keeps_the_rows_with_its_recipe(recipe, frame, tmp_path, monkeypatch):
    measure_little(monkeypatch)
    first = niwaki.run(recipe, data=frame, out=tmp_path / "run", overrides=["cache.stages=false"])
    assert isinstance(first, Run) and len(list((tmp_path / "run" / "rows").iterdir())) == 1
    again = niwaki.check(tmp_path / "run" / "recipe.toml")
    assert keys(again) == keys(json.loads((tmp_path / "run" / "plan.json").read_text()))


def test_rejected_rows_leave_no_files(recipe, frame, tmp_path):
    few = frame[:5]
    with pytest.raises(InputError, match=r"^data: 5 rows are too few"):
        niwaki.run(recipe, data=few, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(InputError, match=r"^data: empty cells \('text' 1\); fill them or drop their rows$"):
        niwaki.check(recipe, data=frame.replace({frame["text"][0]: None}))


def test_labels_of_a_file_are_not_given_twice(recipe):
    with pytest.raises(InputError, match=r"^y: labels of a file belong into one of its columns"):
        niwaki.check(recipe, data="rows.csv", y=[1])
