"""Settings of the train block that follow from the rows."""

from typing import Any

import pytest

from niwaki.core.errors import InputError
from niwaki.run.auto_train import Rows, chosen_head, recommended
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe import parse, read, to_toml
from niwaki.run.recipe_settings import Recipe


def recipe(bert_folder, rows_csv, train: object, **more: Any) -> Recipe:
    stage = {"name": "only", "train": train, **more}
    values = {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    return parse({**values, "stages": [stage]})


def train_of(plan: Plan) -> Any:
    return plan.stages[0].to_json()["train"]


@pytest.mark.parametrize(
    ("rows", "pairs", "expected"),
    [
        (30, False, (16, 1e-4, 16)),
        (1_999, False, (15, 1e-4, 16)),
        (2_243, True, (13, 5e-5, 32)),
        (5_134, True, (6, 5e-5, 32)),
        (7_696, False, (4, 1e-4, 32)),
        (60_614, False, (1, 1e-4, 32)),
    ],
)
def test_epochs_fall_with_the_rows_and_pairs_learn_more_slowly(rows, pairs, expected):
    found = recommended(Rows(rows, pairs))
    assert (found["epochs"], found["lr"], found["batch"]) == expected


def test_auto_equals_the_same_values_given(bert_folder, rows_csv):
    """The key too, so that a stage is reused."""
    auto = make_plan(recipe(bert_folder, rows_csv, "auto"), "auto")
    given = make_plan(recipe(bert_folder, rows_csv, {"epochs": 16, "lr": 1e-4, "batch": 16}), "given")
    assert auto.stages[0].key == given.stages[0].key
    assert train_of(auto) == train_of(given) and not train_of(auto)["auto"]


def test_given_settings_stay(bert_folder, rows_csv):
    train = train_of(make_plan(recipe(bert_folder, rows_csv, {"auto": True, "lr": 3e-3, "warmup": 0.2}), "some"))
    assert (train["lr"], train["warmup"], train["epochs"], train["batch"]) == (3e-3, 0.2, 16, 16)


def test_a_saved_recipe_chooses_again(bert_folder, rows_csv, tmp_path):
    first = recipe(bert_folder, rows_csv, {"auto": True, "lr": 3e-3})
    (tmp_path / "recipe.toml").write_text(to_toml(first), encoding="utf-8")
    again = read(tmp_path / "recipe.toml")
    assert again == first and train_of(make_plan(again, "again")) == train_of(make_plan(first, "first"))


def test_pairs_of_texts_are_recognized(bert_folder, tmp_path):
    path = tmp_path / "pairs.csv"
    rows = (f"words {number},other words {number},{'ab'[number % 2]}" for number in range(40))
    path.write_text("text,second,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert train_of(make_plan(recipe(bert_folder, path, "auto"), "pairs"))["lr"] == 5e-5


def test_auto_without_effect_and_with_a_teacher_is_rejected(bert_folder, rows_csv):
    with pytest.raises(InputError, match=r"auto: has no effect"):
        recipe(bert_folder, rows_csv, {"auto": True, "epochs": 1, "lr": 1e-4, "batch": 8})
    taught = {"name": "b", "teacher": "a", "methods": [{"use": "logits"}], "train": "auto"}
    with pytest.raises(InputError, match=r"auto: its rule is for fine-tuning without a teacher"):
        parse({"model": str(bert_folder), "stages": [{"name": "a", "train": {"epochs": 1}}, taught]})


@pytest.mark.parametrize(
    ("rows", "answer", "few_pairs", "head"),
    [
        (Rows(1_999, True), "label", None, "pair_head"),
        (Rows(2_000, True), "label", None, "pooled_head"),
        (Rows(300, False), "label", None, "pooled_head"),
        (Rows(300, True), "number", None, "pair_head"),
        (Rows(300, True), "span", None, "pooled_head"),
        (Rows(300, True), "label", 300, "pooled_head"),
    ],
)
def test_few_pairs_of_texts_get_separate_embeddings(rows, answer, few_pairs, head):
    given = {"use": "auto_head", "dense": False, **({} if few_pairs is None else {"few_pairs": few_pairs})}
    found = chosen_head(given, rows, answer)
    assert found == ({"use": "pair_head"} if head == "pair_head" else {"use": "pooled_head", "dense": False})


@pytest.mark.parametrize(("few_pairs", "head"), [(1_000, "pair"), (10, "pooled")])
def test_a_plan_states_the_chosen_head(few_pairs, head, bert_folder, tmp_path):
    """Also in the shapes of its stages."""
    path = tmp_path / "pairs.csv"
    rows = (f"words {number},other words {number},{'ab'[number % 2]}" for number in range(40))
    path.write_text("text,second,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    methods = [{"use": "auto_head", "mode": "mean", "few_pairs": few_pairs}, {"use": "linear_probe"}]
    plan = make_plan(recipe(bert_folder, path, {"epochs": 1}, methods=methods), "pairs")
    assert [method["use"] for method in plan.stages[0].to_json()["methods"]] == [f"{head}_head", "linear_probe"]
    assert plan.shapes["only"].trained.anatomy.head.label() == head
