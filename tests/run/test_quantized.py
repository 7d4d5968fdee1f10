"""Training-free quantized copies: which ones are planned, that they are stages like any other, and that one may be recommended."""

import json
import shutil
from pathlib import Path

import pytest

import niwaki
from niwaki import api
from niwaki.core.errors import InputError, UsageError
from niwaki.run import room
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.result import Run
from run import small

TEACHER = {"name": "teacher", "train": {"epochs": 3, "lr": 2e-3, "batch": 16}}
SMALL = {
    "name": "small",
    "teacher": "teacher",
    "methods": [{"use": "student", "layers": 2}, {"use": "logits"}],
    "train": {"batch": 16},
}


@pytest.fixture(scope="session")
def plain(bert_folder: Path, rows_csv: Path) -> dict:
    return {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv), "max_tokens": 24}}


def planned(plain: dict, *stages: dict, **more) -> dict[str, str]:
    """Name of each stage → the stage that it is a copy of."""
    plan = make_plan(parse({**plain, "stages": list(stages), **more}), "a")
    assert plan.shapes.keys() == {stage.spec.name for stage in plan.stages}
    return {stage.spec.name: stage.copy_of for stage in plan.stages}


def test_every_trained_stage_has_a_copy_in_8_and_in_4_bits_behind_the_recipes_stages(plain):
    assert planned(plain, TEACHER, SMALL) == {
        "teacher": "",
        "small": "",
        "teacher-int8": "teacher",
        "teacher-4bit": "teacher",
        "small-int8": "small",
        "small-4bit": "small",
    }


def test_the_setting_chooses_them_and_turns_them_off(plain):
    assert planned(plain, TEACHER, quantize=[]) == {"teacher": ""}
    assert planned(plain, TEACHER, quantize=["4bit", "4bit"]) == {"teacher": "", "teacher-4bit": "teacher"}
    with pytest.raises(InputError, match=r"quantize\.0: input should be 'int8' or '4bit' \(given: '2bit'\)"):
        planned(plain, TEACHER, quantize=["2bit"])


@pytest.mark.parametrize("name", ["int8", "teacher-int8", "packed"])
def test_a_copy_that_the_recipe_names_is_not_planned_again(plain, name):
    own = {"name": name, "methods": [{"use": "int8"}]}
    assert planned(plain, TEACHER, own) == {"teacher": "", name: "", "teacher-4bit": "teacher"}


def test_another_stage_of_that_name_is_not_taken_for_the_copy(plain):
    own = {"name": "teacher-int8", "methods": [{"use": "int8", "embeddings": False}]}
    assert planned(plain, TEACHER, own, quantize=["int8"]) == {
        "teacher": "",
        "teacher-int8": "",
        "teacher-int8-2": "teacher",
    }


@pytest.mark.parametrize(
    ("methods", "train"),
    [
        ([{"use": "qat"}], {"batch": 16}),
        ([{"use": "qat", "bits": 4}], {"batch": 16}),
        ([{"use": "ternary"}], {"batch": 16}),
        ([{"use": "rtn"}], None),
        ([{"use": "static"}], None),
        ([{"use": "int8", "embeddings": False}], None),
    ],
)
def test_a_stage_whose_matrices_are_packed_has_no_copies(plain, methods, train):
    own = {"name": "own", "methods": methods, **({"train": train} if train else {})}
    assert not [name for name, source in planned(plain, TEACHER, own).items() if source == "own"]


def test_a_stage_that_only_prepares_another_has_no_copies(plain):
    layers = {
        "name": "layers",
        "teacher": "teacher",
        "train": {"batch": 16},
        "methods": [{"use": "student", "layers": 2}, {"use": "tinybert", "prediction": 0.0}],
    }
    student = {"name": "student", "teacher": "teacher", "methods": [{"use": "logits"}], "train": {"batch": 16}}
    assert set(planned(plain, TEACHER, layers, student, quantize=["int8"]).values()) == {"", "teacher", "student"}


def test_an_untrained_head_has_no_copies_and_a_fine_tuned_start_has(plain, encoder_folder):
    pruned = {"name": "pruned", "methods": [{"use": "ffn"}]}
    assert planned({**plain, "model": str(encoder_folder)}, pruned) == {"pruned": ""}
    assert "pruned-int8" in planned(plain, pruned)


@pytest.mark.parametrize("method", ["bilstm", "cnn", "averaging"])
def test_identical_copies_are_planned_once(plain, method):
    """An LSTM gets 8 bits where others get 4; what differs is the token table."""
    student = {
        "name": "student",
        "teacher": "teacher",
        "methods": [{"use": method}, {"use": "logits"}],
        "train": {"batch": 16},
    }
    found = planned(plain, TEACHER, student)
    assert "student-int8" in found and "student-4bit" in found


def test_copies_exist_for_every_seed(plain):
    plan = make_plan(parse({**plain, "stages": [TEACHER], "seeds": [3, 4]}), "a")
    seeds = [[(stage.spec.name, stage.key) for stage in one.stages] for one in (plan, *plan.repeats)]
    assert [[name for name, _ in one] for one in seeds] == [["teacher", "teacher-int8", "teacher-4bit"]] * 2
    assert not {key for _, key in seeds[0]} & {key for _, key in seeds[1]}


def test_copies_need_little_disk(plain, tmp_path, monkeypatch, bert_folder):
    needed = []
    monkeypatch.setattr(room, "require_disk", lambda plan, folder, missing, need_bytes: needed.append(need_bytes))
    for kinds in ([], ["int8", "4bit"]):
        room.require_room(make_plan(parse({**plain, "stages": [TEACHER], "quantize": kinds}), "a"), tmp_path)
    weights = (bert_folder / "model.safetensors").stat().st_size
    assert needed[1] - needed[0] == pytest.approx(weights * 2 / 3, abs=2)


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory, plain: dict) -> Path:
    path = tmp_path_factory.mktemp("quantized") / "copies.toml"
    head = "\n".join(f"{key} = {json.dumps(plain[key])}" for key in ("model", "task"))
    data = f"data = {{ path = {json.dumps(plain['data']['path'])}, max_tokens = 24 }}"
    path.write_text(
        f'{head}\n{data}\n[[stages]]\nname = "teacher"\ntrain = {{ epochs = 6, lr = 2e-3, batch = 16, precision = "fp32" }}\n'
    )
    return path


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory, recipe: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        small.measure_little(patch)
        return api.run(recipe, out=tmp_path_factory.mktemp("copies") / "run").folder


def test_copies_are_scored_raced_and_smaller(run_folder):
    stages = {stage["name"]: stage for stage in json.loads((run_folder / "report.json").read_text())["stages"]}
    assert [stage["copy_of"] for stage in stages.values()] == [None, "teacher", "teacher"]
    teacher, int8, low = (stages[name] for name in ("teacher", "teacher-int8", "teacher-4bit"))
    assert teacher["bytes"] > int8["bytes"] > low["bytes"]
    for stage in stages.values():
        assert stage["score_low"] <= stage["score"] <= stage["score_high"] and stage["throughput"] > 0
    assert [(stage["parent"], stage["training"]) for stage in (int8, low)] == [("teacher", None)] * 2


def test_each_stage_is_timed_in_the_engine_that_load_picks(run_folder):
    report = json.loads((run_folder / "report.json").read_text())
    for stage in report["stages"]:
        picked = niwaki.load(run_folder, stage=stage["name"])
        assert stage["loaded"]["engine"] == picked.engine and stage["engine"] == "onnx"
        low, value, high = (
            stage["loaded"]["ratios"][key] for key in ("throughput_low", "throughput", "throughput_high")
        )
        assert low <= value <= high and 0 <= stage["loaded"]["score"] <= 1
    assert set(json.loads((run_folder / "speed.json").read_text())["contenders"]) == {
        "reference",
        *(stage["name"] for stage in report["stages"]),
    }
    assert report["race"]["spread"] >= 0 and report["race"]["busy"] in (True, False)


def test_a_copy_is_loaded_where_it_is_recommended_and_by_name(run_folder, tmp_path):
    report = json.loads((run_folder / "report.json").read_text())
    assert report["verdict"]["deploy"] in ("teacher", "teacher-int8", "teacher-4bit")  # 24 rows: which one is chance
    assert niwaki.load(run_folder).folder.parent.name.startswith(report["verdict"]["deploy"])
    for name in ("teacher", "teacher-int8", "teacher-4bit"):
        model = niwaki.load(run_folder, stage=name)
        assert model.folder == Run.read(run_folder).model(name)
        assert {answer.label for answer in model.predict(["a good film."])} <= {"bad", "good"}
    with pytest.raises(InputError, match="has no stage 'teacher-2bit'; there is: teacher, teacher-int8, teacher-4bit"):
        niwaki.load(run_folder, stage="teacher-2bit")
    with pytest.raises(UsageError, match="is not the folder of a run"):
        niwaki.load(Run.read(run_folder).model("teacher"), stage="teacher")


def test_a_lost_copy_is_restored_without_training(run_folder, recipe, tmp_path, capfd):
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    before = small.weights(copy)
    for stage in copy.glob("stages/teacher-int8-*"):
        shutil.rmtree(stage)
    api.run(recipe, out=copy)
    assert small.weights(copy) == before
    lines = [json.loads(line) for line in (copy / "ledger.jsonl").read_text().splitlines()]
    assert [line["stage"] for line in lines if line["event"] == "charge"][-1:] == ["teacher-int8"]
