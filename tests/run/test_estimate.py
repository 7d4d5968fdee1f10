"""Estimates compared with finished runs and with values worked out by hand."""

import time

import pytest

from niwaki.core.files import read_json
from niwaki.run import estimate as estimating
from niwaki.run.estimate import estimate, tokens_of, weights_bytes
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse, read

TRAIN = {"epochs": 2, "batch": 16}
STUDENT = {"use": "student", "layers": 2}
LAYERS = {"name": "layers", "teacher": "teacher", "methods": [STUDENT, {"use": "tinybert"}], "train": TRAIN}
ANSWERS = {"name": "answers", "teacher": "teacher", "methods": [{"use": "logits"}], "train": TRAIN}
WIDTH, HEADS = 32, 4  # of the tiny model
SPEED = 1e6  # slow, so that seconds are many


@pytest.fixture(autouse=True)
def _slow_machine(monkeypatch):
    monkeypatch.setattr(estimating, "products_per_cpu_second", lambda: SPEED / estimating.UTILISATION)


@pytest.fixture
def plan(bert_folder, rows_csv):
    def build(*stages, **more):
        teacher = {"name": "teacher", "train": TRAIN}
        return make_plan(
            parse(
                {
                    "model": str(bert_folder),
                    "task": "classification",
                    "data": {"path": str(rows_csv), "max_tokens": 24},
                    "quantize": [],
                    "stages": [teacher, *stages],
                    **more,
                }
            ),
            "build",
        )

    return build


def test_files_are_as_large_as_estimated(recipe_file, finished):
    plan = make_plan(read(recipe_file), "small")
    for name, both in plan.shapes.items():
        folder = finished / plan.stage(name).folder / "model"
        size, estimated = (folder / "model.safetensors").stat().st_size, weights_bytes(both.finished)
        words = 8 + int.from_bytes((folder / "model.safetensors").read_bytes()[:8], "little")
        if name in ("pruned", "int8"):  # the number of tokens that the texts use is not known in advance
            assert size - words < estimated < 1.2 * size
        else:
            assert size - words == estimated


def test_work_is_counted_on_the_shape_that_is_trained(plan, finished, recipe_file):
    """Every step is three passes over its rows; a table for each stage of the finished run has what one pass takes."""
    small_plan = make_plan(read(recipe_file), "small")
    tokens = tokens_of(small_plan.task)
    for stage in small_plan.stages[:2]:
        result = read_json(finished / stage.folder / "result.json")
        passed = (
            result["flops"] * tokens / result["flops_tokens"] / SPEED
        )  # the share of the squares of lengths is small
        found = next(one for one in estimate(small_plan)["stages"] if one["name"] == stage.spec.name)
        rows, validations = small_plan.task.splits()["train"].num_rows, stage.spec.train.validations
        texts = 3 * rows * 6 + 6 * validations * small_plan.task.splits()["validation"].num_rows
        heard = rows * estimate(small_plan)["stages"][0]["cpu_seconds"] / (texts * 1.1) if stage.spec.teachers else 0
        assert found["cpu_seconds"] == pytest.approx(passed * texts + heard, rel=0.3)


def test_steps_count_the_rows_that_the_objective_reads(plan):
    """320 pairs are 640 rows, whatever the number of rows."""
    train = {"objective": {"use": "contrastive", "max_pairs": 320}, "epochs": 3, "batch": 16}
    found = plan({"name": "tuned", "start": "pretrained", "methods": [{"use": "linear_head"}], "train": train})
    stage = estimate(found)["stages"][1]
    assert stage["steps"] == 3 * 640 / 16
    assert stage["rows"] == found.task.splits()["train"].num_rows


def test_a_smaller_student_takes_less_time_and_disk(plan):
    large, small = (
        estimate(plan({**LAYERS, "methods": [{**STUDENT, "layers": layers}, {"use": "logits"}]}))["stages"][1]
        for layers in (3, 1)
    )
    assert small["cpu_seconds"] < 0.7 * large["cpu_seconds"] and small["steps"] == large["steps"]
    assert estimate(plan(ANSWERS))["megabytes"] < estimate(plan(ANSWERS, seeds=[0, 1, 2]))["megabytes"]


def test_a_second_pass_in_every_step_doubles_the_steps(plan):
    """Supernets count the layers that run: of the smallest shape and of a mean one."""
    again = {"name": "again", "start": "teacher", "train": TRAIN}
    seconds = {}
    for name, methods in {
        "": [],
        "rdrop": [{"use": "rdrop"}],
        "supernet": [{"use": "supernet", "layers": [0.5, 1.0]}],
    }.items():
        found = plan({**again, "methods": methods})
        seconds[name] = estimating.stage_seconds(found, found.stage("again"), {"again": 1.0})
    _, steps, _ = estimating.work(found.task, found.stage("again"))
    pass_of_each = 3 * 16 * steps
    assert seconds["rdrop"] - seconds[""] == pytest.approx(pass_of_each)
    assert seconds["supernet"] - seconds[""] == pytest.approx((0.5 + 0.75) * pass_of_each)


def test_a_teacher_reads_the_texts_once(plan):
    """The second phase takes the answers that came with the layers: neither time nor disk of the teacher is counted again."""
    one, two = estimate(plan(LAYERS)), estimate(plan(LAYERS, ANSWERS))
    assert two["teachers_megabytes"] == one["teachers_megabytes"] > 0
    layers, answers = two["stages"][1:]
    alone = estimate(plan({**LAYERS, "methods": [STUDENT, {"use": "logits"}]}, {**ANSWERS, "teacher": "layers"}))
    teachers = alone["stages"][1]["cpu_seconds"] - answers["cpu_seconds"]
    assert layers["cpu_seconds"] - answers["cpu_seconds"] == pytest.approx(teachers, abs=2) and teachers > 10


def test_disk_of_what_a_teacher_shows_by_hand(plan):
    layers_plan = plan(LAYERS)
    tokens, rows = tokens_of(layers_plan.task), layers_plan.task.splits()["train"].num_rows
    shown = 2 + 3 * tokens * WIDTH + 2 * HEADS * tokens**2  # logits, three hidden states, the scores of two layers
    assert estimate(layers_plan)["teachers_megabytes"] == pytest.approx(4e-6 * rows * shown)
    capped = plan(LAYERS, cache={"gigabytes": 1e-6})
    assert estimate(capped)["teachers_megabytes"] == pytest.approx(1e-3)


def test_time_of_other_programs_is_not_counted():
    """The clock counts processor time, so waiting for a core adds nothing."""
    slept: list[float] = []

    def other_programs_run() -> None:
        slept.append(0.05)
        time.sleep(0.05)

    assert estimating._seconds_of(other_programs_run) < 0.04 and slept


def test_speed_is_products_per_second(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(estimating, "_seconds_of", lambda work: 0.5)
    assert estimating.products_per_cpu_second() == 2 * 1024 * 384 * 1536 / 0.5


@pytest.mark.parametrize(
    ("cores", "load", "low", "high"),
    [(1, 0, 50, 128), (2, 0, 25, 64), (2, 0.4, 25, 64), (2, 2, 25, 128), (2, 6, 25, 256), (64, 0, 1, 2)],
)
def test_the_clock_follows_from_cores_and_load(cores, load, low, high):
    ranges = estimating.times(80, cores, load)
    assert ranges["cpu_seconds_range"] == [50, 128] and ranges["seconds_range"] == [low, high]


def test_all_work_is_counted(plan):
    estimated = estimate(plan(ANSWERS))
    assert estimated["comparing_cpu_seconds"] > 3 * estimating.RACE_SECONDS
    assert (
        estimated["cpu_seconds"]
        == sum(stage["cpu_seconds"] for stage in estimated["stages"]) + estimated["comparing_cpu_seconds"]
    )
    three = estimate(plan(ANSWERS, seeds=[0, 1, 2]))
    stages = sum(stage["cpu_seconds"] for stage in three["stages"])
    assert three["cpu_seconds"] == 3 * stages + three["comparing_cpu_seconds"]
