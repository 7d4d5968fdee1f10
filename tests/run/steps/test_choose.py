"""Alternatives of a stage, compared on held-out rows."""

from collections import Counter

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.steps import choose
from niwaki.run.steps.choose import best, folds_of
from niwaki.train.loop import Interrupted
from run.teaching import TRAIN, run, weights

HEAD = {"use": "pooled_head", "dense": False}
FROZEN = {"methods": [HEAD, {"use": "linear_probe"}]}
TUNED = {"methods": [HEAD], "train": {**TRAIN, "lr": 3e-3, "epochs": 12}}


def recipe_of(bert_folder, rows_csv, folds=2, **stage):
    stages = [{"name": "teacher", "folds": folds, **stage}]
    data = {"path": str(rows_csv), "max_tokens": 24}
    common = {"model": str(bert_folder), "task": "classification", "data": data, "quantize": []}
    return parse({**common, "stages": stages, "cache": {"stages": False}})


def test_every_row_is_held_out_once_and_labels_are_spread_evenly():
    labels = ["a"] * 61 + ["b"] * 29 + ["c"] * 4
    fold = folds_of(labels, 3, seed=5)
    counts = Counter(zip(labels, fold.tolist(), strict=True))
    for label, total in Counter(labels).items():
        each = [counts[label, number] for number in range(3)]
        assert sum(each) == total and max(each) - min(each) <= 1
    assert (fold == folds_of(labels, 3, seed=5)).all() and (fold != folds_of(labels, 3, seed=6)).any()


def test_the_untrained_one_is_preferred_and_others_must_lead_by_half_a_standard_error():
    """1 of 100 rows better is a lead of one standard error; 4 better and 3 worse are one of 0.38."""
    none, one_better = [1.0] * 100, [0.0] + [1.0] * 99
    mixed = [0.0] * 4 + [1.0] * 96
    worse_elsewhere = [1.0] * 97 + [0.0] * 3
    assert best([none, one_better], [True, True]) == 1
    assert best([one_better, one_better], [True, False]) == 1
    assert best([worse_elsewhere, mixed], [True, True]) == 0 and best([mixed, worse_elsewhere], [True, True]) == 0
    assert best([none, one_better, none], [True, True, False]) == 1


@pytest.fixture(scope="module")
def chosen(bert_folder, rows_csv, tmp_path_factory):
    """A stage with a frozen encoder of random weights, and fine-tuning as its alternative."""
    folder = tmp_path_factory.mktemp("chosen")
    return folder, *run(recipe_of(bert_folder, rows_csv, **FROZEN, alternatives=[TUNED]), folder)


def test_the_alternative_with_the_fewest_errors_is_taken(chosen):
    _, stage = chosen
    result = read_json(stage / "result.json")
    choice = result["choice"]
    errors = [one["error"] for one in choice["alternatives"]]
    assert choice["chosen"] == 1 and errors[1] < errors[0] and choice["folds"] == 2
    assert [one["trains"] for one in choice["alternatives"]] == [False, True]
    assert result["training"]["steps"] and (stage / "train.jsonl").is_file()


def test_the_result_is_that_of_the_chosen_one_alone(chosen, bert_folder, rows_csv, tmp_path):
    _, stage = chosen
    assert weights(stage) == weights(*run(recipe_of(bert_folder, rows_csv, **TUNED), tmp_path))


def test_of_equal_alternatives_the_stage_itself_is_taken(bert_folder, rows_csv, tmp_path):
    [stage] = run(recipe_of(bert_folder, rows_csv, **FROZEN, alternatives=[FROZEN]), tmp_path)
    result = read_json(stage / "result.json")
    assert result["choice"]["chosen"] == 0 and result["training"] is None and not (stage / "train.jsonl").exists()


def test_heads_that_are_fitted_at_the_end_are_compared_with_their_fit(bert_folder, rows_csv, tmp_path, monkeypatch):
    """The rows of a fitted head for two labels are each other's negative; those of a new one are random."""
    heads, original = [], choose.row_errors

    def row_errors(job, model, rows):
        heads.append(model.network.get_submodule(model.anatomy.head.final).weight.detach())
        return original(job, model, rows)

    monkeypatch.setattr(choose, "row_errors", row_errors)
    fitted = {"methods": [{"use": "linear_head"}]}
    run(recipe_of(bert_folder, rows_csv, **fitted, alternatives=[fitted]), tmp_path)
    assert len(heads) == 4
    for weight in heads:
        assert weight.abs().max() > 0 and (weight[0] == -weight[1]).all()


def test_nothing_but_the_stage_remains(chosen):
    folder, stage = chosen
    assert [path.name for path in (folder / "stages").iterdir()] == [stage.name]


def test_an_interrupted_comparison_continues_after_its_finished_parts(bert_folder, rows_csv, tmp_path, monkeypatch):
    recipe, trained = recipe_of(bert_folder, rows_csv, **FROZEN, alternatives=[TUNED]), []
    original = choose.row_errors

    def interrupt_third(*arguments):
        trained.append(1)
        if len(trained) == 3:
            raise Interrupted
        return original(*arguments)

    monkeypatch.setattr(choose, "row_errors", interrupt_third)
    with pytest.raises(Interrupted):
        run(recipe, tmp_path)
    [stage] = run(recipe, tmp_path)
    assert len(trained) == 5  # two parts of each alternative, one of them again
    assert read_json(stage / "result.json")["choice"]["chosen"] == 1


def test_many_rows_are_compared_on_the_validation_rows(bert_folder, rows_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "FEW_ROWS", 10)
    recipe = recipe_of(bert_folder, rows_csv, **FROZEN, alternatives=[TUNED])
    [stage] = run(recipe, tmp_path)
    choice = read_json(stage / "result.json")["choice"]
    rows = make_plan(recipe, "many").task.splits()["validation"].num_rows
    assert (choice["folds"], choice["held_out"]) == (1, rows)


def test_above_the_limit_the_stage_is_taken_as_it_is(bert_folder, rows_csv, tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "MANY_ROWS", 10)
    [stage] = run(recipe_of(bert_folder, rows_csv, **FROZEN, alternatives=[TUNED]), tmp_path)
    assert "choice" not in read_json(stage / "result.json")


def test_alternatives_and_folds_are_part_of_the_key(bert_folder, rows_csv):
    plans = [
        make_plan(recipe_of(bert_folder, rows_csv, **TUNED, **more), "key").stages[0].key
        for more in ({}, {"alternatives": [FROZEN]}, {"alternatives": [FROZEN], "folds": 3}, {"alternatives": [TUNED]})
    ]
    assert len(set(plans)) == 4


def test_rules_choose_heads_and_training_of_alternatives(bert_folder, tmp_path):
    """Few pairs of texts get `pair_head` in the stage and in its alternatives."""
    rows = tiny.write_pairs_csv(tmp_path / "pairs.csv")
    head = {"use": "auto_head", "dense": False}
    other = {"methods": [head, {"use": "linear_probe"}], "train": "auto"}
    plan = make_plan(recipe_of(bert_folder, rows, methods=[head], train=TRAIN, alternatives=[other]), "pairs")
    [planned] = plan.to_json()["stages"]
    assert [values["use"] for values in planned["methods"]] == ["pair_head"]
    [alternative] = planned["alternatives"]
    assert [values["use"] for values in alternative["methods"]] == ["pair_head", "linear_probe"]
    assert alternative["train"]["lr"] == 5e-5


def test_faults_of_an_alternative_name_its_place(bert_folder, rows_csv):
    with pytest.raises(InputError) as error:
        recipe_of(
            bert_folder,
            rows_csv,
            **TUNED,
            alternatives=[
                FROZEN,
                {"methods": [{"use": "freze"}], "train": {"auto": True, "epochs": 1, "lr": 1, "batch": 1}},
            ],
        )
    assert any(fault.startswith("stages.0.alternatives.1.") for fault in error.value.faults)


def test_an_alternative_of_another_shape_is_rejected(bert_folder, rows_csv):
    other = {"methods": [{"use": "pooled_head", "dense": True}], "train": TRAIN}
    with pytest.raises(InputError, match=r"alternatives.0: its model has another shape"):
        make_plan(recipe_of(bert_folder, rows_csv, **TUNED, alternatives=[other]), "shape")


def test_alternatives_with_a_teacher_are_rejected(bert_folder, rows_csv):
    with pytest.raises(InputError, match="compared on labelled rows without a teacher"):
        parse(
            {
                "model": str(bert_folder),
                "stages": [
                    {"name": "a", "train": TRAIN},
                    {
                        "name": "b",
                        "teacher": "a",
                        "methods": [{"use": "logits"}],
                        "train": TRAIN,
                        "alternatives": [TUNED],
                    },
                ],
            }
        )


def test_tasks_without_one_answer_for_a_text_take_the_stage_as_it_is(bert_folder, tmp_path):
    rows = "\n".join(f'{{"tokens": ["w{n}", "Rome"], "tags": ["O", "B-LOC"]}}' for n in range(40))
    (tmp_path / "rows.jsonl").write_text(rows, encoding="utf-8")
    stage = {"name": "tagger", "train": TRAIN, "alternatives": [{"train": {**TRAIN, "lr": 1e-4}}]}
    recipe = parse(
        {
            "model": str(bert_folder),
            "task": "tagging",
            "data": {"path": str(tmp_path / "rows.jsonl")},
            "quantize": [],
            "stages": [stage],
        }
    )
    [stage] = run(recipe, tmp_path / "run")
    assert "choice" not in read_json(stage / "result.json")
