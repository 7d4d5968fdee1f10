"""The recipe of a point, and how its last training is cut into parts."""

import pytest

import tiny
from niwaki.run.recipe import locate, read
from niwaki.search.points import can_be_cut, copy_name, parts_in, parts_of, recipe_of
from niwaki.search.space import ORDER, make_space
from search import spaces

OFF = "off"


def point(order: str, **values: object) -> dict[str, object]:
    """`student_layers=2` stands for stages.student.methods.student.layers; what is not given is off."""
    space = spaces.space()
    named = {one.path: OFF for one in space.active({ORDER: order})} | {ORDER: order}
    short = {path.replace("stages.", "").replace(".methods.", ".").replace(".", "_"): path for path in named}
    return named | {short[name]: value for name, value in values.items()}


def stage(recipe, name):
    return next(stage for stage in recipe.stages if stage.name == name)


def uses(recipe, name):
    return [method["use"] for method in stage(recipe, name).methods]


def test_stages_run_in_the_order_of_the_point():
    found = recipe_of(spaces.space(), point("pruned > student", pruned_ffn_keep=0.5, student_student_layers=2))
    assert [stage.name for stage in found.stages] == ["teacher", "pruned", "student"]
    assert uses(found, "pruned") == ["ffn", "logits"] and uses(found, "student") == ["student", "logits"]
    assert stage(found, "pruned").methods[0] == {"use": "ffn", "multiple": 8, "keep": 0.5}
    assert stage(found, "student").methods[0] == {"use": "student", "layers": 2}
    assert found.quantize == [] and not found.baselines and found.search is None


def test_a_method_with_every_setting_off_is_left_out_and_a_single_one_takes_its_default():
    found = recipe_of(spaces.space(), point("student"))
    assert uses(found, "student") == ["logits"]
    found = recipe_of(spaces.space(), point("student", student_student_ffn=64))
    assert stage(found, "student").methods[0] == {"use": "student", "ffn": 64}  # the recipe's own layers are off


def test_a_method_can_be_on_or_off_next_to_its_settings():
    path = "stages.pruned.methods.heads"
    space = spaces.space(space={path: ["on", OFF]})
    both = [recipe_of(space, point("pruned", pruned_heads_keep=0.5) | {path: value}) for value in ("on", OFF)]
    assert [uses(one, "pruned") for one in both] == [["heads", "logits"], ["logits"]]
    assert stage(both[0], "pruned").methods[0] == {"use": "heads", "keep": 0.5}


def test_every_point_of_the_supernet_recipe_cuts_another_shape_of_one_training():
    space = make_space(read(locate("supernet")), tiny.model("bert", layers=6))
    recipes = [recipe_of(space, point) for point in space.points()]
    shapes = {tuple(sorted(stage(one, "cut").methods[1].items())) for one in recipes}
    assert len(recipes) == len(shapes) == space.size() == 64
    assert len({str(stage(one, "supernet")) for one in recipes}) == 1


def test_settings_of_the_training_are_set_and_off_leaves_them():
    rate = "stages.student.train.lr"
    space = spaces.space(space={rate: [1e-4, OFF]})
    both = [recipe_of(space, point("student") | {rate: value}) for value in (1e-4, OFF)]
    assert [stage(one, "student").train.lr for one in both] == [1e-4, 2e-3]


def test_the_base_recipe_is_not_changed():
    space = spaces.space()
    before = repr(space.base)
    recipe_of(space, point("student", student_student_layers=2), halvings=2, copies=["int8"])
    assert repr(space.base) == before


def test_the_last_training_is_cut_and_continued():
    found = recipe_of(spaces.space(), point("pruned > student", student_student_layers=2), 2, ["float", "int8", "4bit"])
    names = [stage.name for stage in found.stages]
    assert names[:5] == ["teacher", "pruned", "student", "student-part2", "student-part3"]
    assert names[5:] == ["student-part3-int8", "student-part3-4bit"]
    epochs = [stage(found, name).train.epochs for name in names[2:5]]
    assert epochs == [0.5, 0.5, 1.0] and stage(found, "pruned").train.epochs == 1
    assert uses(found, "student") == ["student", "logits"] and uses(found, "student-part3") == ["logits"]
    assert [stage(found, name).replica for name in names[2:5]] == [0, 1, 2]  # other rows come first
    assert stage(found, "student-part3-int8").start == "student-part3"
    assert parts_in(found, "student") == names[2:5]


@pytest.mark.parametrize("halvings", [1, 2, 3])
def test_the_parts_add_up_to_the_whole_training(halvings):
    whole = {"name": "a", "methods": [{"use": "ffn"}, {"use": "logits"}], "train": {"epochs": 3.0}}
    parts = parts_of(whole, halvings)
    assert len(parts) == halvings + 1 and sum(part["train"]["epochs"] for part in parts) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        ([{"use": "student"}, {"use": "logits"}], True),
        ([{"use": "magnitude"}], False),  # its schedule spans the training
        ([{"use": "lora"}], False),  # adds parameters that are merged at the end
        ([{"use": "freeze"}], False),  # would have to freeze again
    ],
)
def test_methods_that_act_throughout_a_training_are_not_cut(methods, expected):
    assert can_be_cut({"methods": methods, "train": {"epochs": 1.0}}) is expected
    assert not can_be_cut({"methods": methods, "train": {"epochs": 1.0, "auto": True}})


def test_a_float_copy_is_the_stage_itself():
    assert (copy_name("a", "float"), copy_name("a", "4bit")) == ("a", "a-4bit")
