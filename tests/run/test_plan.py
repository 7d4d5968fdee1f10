"""Plans: the same ingredients give the same key, every ingredient counts, and how often to save is none."""

import shutil

import pytest

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.methods.prune.ffn import Ffn
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse

STAGES = [
    {"name": "teacher", "train": {"epochs": 2, "precision": "fp32"}},
    {
        "name": "pruned",
        "teacher": "teacher",
        "methods": [{"use": "ffn"}, {"use": "logits"}],
        "train": {"precision": "fp32"},
    },
    {"name": "int8", "methods": [{"use": "int8"}]},
]


@pytest.fixture
def values(bert_folder, rows_csv):
    return {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": [{**stage} for stage in STAGES],
    }


def keys(values, name="a"):
    return {stage.spec.name: stage.key for stage in make_plan(parse(values), name).stages}


def changed(values, **top):
    return {**values, **top}


def with_stage(values, number, **part):
    stages = [dict(stage) for stage in values["stages"]]
    stages[number] = {**stages[number], **part}
    return {**values, "stages": stages}


def alter(path):
    """Another number in the weights, a blank behind JSON."""
    content = path.read_bytes() if path.exists() else b"{}"
    path.write_bytes(
        content[:-4] + bytes([content[-4] ^ 1]) + content[-3:] if path.suffix == ".safetensors" else content + b" "
    )


def differing(before, after):
    return [name for name in before if before[name] != after[name]]


def test_same_ingredients_same_keys_whatever_the_run_is_called(values):
    assert keys(values, "a") == keys(values, "b")


def test_a_default_written_out_changes_nothing(values):
    assert keys(with_stage(values, 1, methods=[{"use": "ffn", "keep": 0.5}, {"use": "logits"}])) == keys(values)


@pytest.mark.parametrize("field", ["save_seconds"])
def test_how_often_to_save_does_not_count(values, field):
    assert keys(with_stage(values, 0, train={**STAGES[0]["train"], field: 1.0})) == keys(values)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 3),
        ("lr", 1e-3),
        ("batch", 8),
        ("warmup", 0.2),
        ("weight_decay", 0.0),
        ("clip", 2.0),
        ("dropout", 0.1),
        ("patience", 2),
        ("validations", 2),
        ("precision", "bf16"),
    ],
)
def test_every_other_setting_of_training_counts_for_the_stage_and_those_behind_it(values, field, value):
    after = keys(with_stage(values, 0, train={**STAGES[0]["train"], field: value}))
    assert differing(keys(values), after) == ["teacher", "pruned", "int8"]


def test_a_later_stage_leaves_the_earlier_keys_alone(values):
    assert differing(keys(values), keys(with_stage(values, 2, methods=[{"use": "int8", "embeddings": False}]))) == [
        "int8"
    ]
    assert differing(
        keys(values), keys(with_stage(values, 1, methods=[{"use": "ffn", "keep": 0.25}, {"use": "logits"}]))
    ) == [
        "pruned",
        "int8",
    ]


def test_the_order_of_methods_counts(values):
    turned = with_stage(values, 1, methods=STAGES[1]["methods"][::-1])
    assert differing(keys(values), keys(turned)) == ["pruned", "int8"]


def test_the_start_and_the_teacher_count(values):
    assert differing(keys(values), keys(with_stage(values, 2, start="teacher"))) == ["int8"]
    taught = {"methods": [{"use": "logits"}], "train": {"epochs": 1}}
    one, other = (keys(with_stage(values, 2, **taught, teacher=name)) for name in ("teacher", "pruned"))
    assert differing(one, other) == ["int8"]


def test_seed_and_task_settings_count_for_all(values):
    assert len(differing(keys(values), keys(changed(values, seed=1)))) == 3
    cut = changed(values, data={**values["data"], "max_tokens": 16})
    assert len(differing(keys(values), keys(cut))) == 3


def test_the_rows_count_not_the_place_they_lie_in(values, rows_csv, tmp_path):
    shutil.copy(rows_csv, tmp_path / "other.csv")
    moved = changed(values, data={"path": str(tmp_path / "other.csv")})
    assert keys(moved) == keys(values)
    with (tmp_path / "other.csv").open("a") as file:
        file.write("a fresh superb film.,good\n")
    assert len(differing(keys(values), keys(moved))) == 3


def test_the_weights_count_not_the_place_they_lie_in(values, bert_folder, tmp_path):
    shutil.copytree(bert_folder, tmp_path / "model")
    moved = changed(values, model=str(tmp_path / "model"))
    assert keys(moved) == keys(values)
    last = keys(values)
    for name in ("model.safetensors", "tokenizer.json", "config.json", "special_tokens_map.json", "added_tokens.json"):
        alter(tmp_path / "model" / name)
        assert len(differing(last, keys(moved))) == 3
        last = keys(moved)


def test_a_start_model_of_its_own_counts_for_its_stage_and_those_behind_it(values, bert_folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    tiny.model("distilbert", ffn=1024).save(other)
    plan = make_plan(parse(with_stage(values, 1, model=str(other))), "a")
    found = {stage.spec.name: stage.key for stage in plan.stages}
    assert differing(keys(values), found) == ["pruned", "int8"]
    assert [(stage.parent, stage.source) for stage in plan.stages] == [
        (None, bert_folder),
        (None, other),
        ("pruned", bert_folder),
    ]
    assert (
        plan.largest_source == other and make_plan(parse(values), "a").largest_source == bert_folder
    )  # by which the required space is computed
    moved = tmp_path / "moved"
    shutil.copytree(other, moved)
    assert keys(with_stage(values, 1, model=str(moved))) == found
    tiny.model("distilbert", ffn=1024, seed=1).save(other)
    assert differing(found, keys(with_stage(values, 1, model=str(other)))) == ["pruned", "int8"]


def test_a_stage_can_start_from_the_pretrained_model(values, bert_folder):
    stages = make_plan(parse(with_stage(values, 1, start="pretrained")), "a").stages
    assert [(stage.parent, stage.source) for stage in stages[:2]] == [(None, bert_folder), (None, bert_folder)]
    with pytest.raises(InputError, match=r"stages.1.name: 'pretrained' is taken by niwaki itself"):
        parse(with_stage(values, 1, name="pretrained"))


def test_an_invalid_start_model_is_rejected(values, bert_folder, tmp_path):
    with pytest.raises(InputError, match=r"stages.1: has both start and model; a stage starts from one of them"):
        parse(with_stage(values, 1, start="teacher", model=str(bert_folder)))
    with pytest.raises(InputError, match=r"stage 'pruned': model '/nowhere': is neither"):
        keys(with_stage(values, 1, model="/nowhere"))
    with pytest.raises(InputError, match=r"stage 'pruned': .* has its own target tokenizer"):
        keys(with_stage(values, 1, model=str(stock.folder("bart", tmp_path))))
    reader = tmp_path / "reader"
    reader.mkdir()
    tiny.model("averaging").save(reader)
    with pytest.raises(InputError, match=r"stage 'pruned': heads: .*has no attention layers"):
        keys(with_stage(values, 1, model=str(reader), methods=[{"use": "heads"}, {"use": "logits"}]))


def test_the_version_of_a_method_counts(values, monkeypatch):
    before = keys(values)
    monkeypatch.setattr(Ffn, "version", 2)
    assert differing(before, keys(values)) == ["pruned", "int8"]


def test_the_plan_says_everything_that_was_filled_in(values):
    plan = make_plan(parse(values), "a").to_json()
    first, pruned, last = plan["stages"]
    assert first["parent"] is None and pruned["parent"] == "teacher" and last["parent"] == "pruned"
    assert pruned["methods"][0]["keep"] == 0.5 and pruned["train"]["lr"] == 5e-5
    assert plan["task"]["rows"] == {"train": 120, "validation": 16, "test": 24}
    assert plan["versions"]["torch"] and plan["hardware"]


@pytest.mark.parametrize("model", ["minilmm", "./nowhere", "a/b/c", "", "../x"])
def test_a_model_that_is_not_there(values, model):
    with pytest.raises(InputError, match="model"):
        keys(changed(values, model=model))
