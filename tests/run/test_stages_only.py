"""Which stages are run when only the last model is wanted."""

from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.stages_only import needed_stages

TRAIN = {"epochs": 1, "batch": 8}


def test_only_the_ancestors_and_teachers_of_the_last_stage_are_needed(bert_folder, rows_csv):
    stages = [
        {"name": "teacher", "train": TRAIN},
        {"name": "other", "model": str(bert_folder), "train": TRAIN},
        {
            "name": "student",
            "model": str(bert_folder),
            "teacher": "teacher",
            "methods": [{"use": "logits"}],
            "train": TRAIN,
        },
    ]
    data = {"path": str(rows_csv), "max_tokens": 24}
    values = {"model": str(bert_folder), "task": "classification", "data": data, "quantize": ["int8"], "stages": stages}
    plan = make_plan(parse(values), "wanted")
    assert len(plan.stages) == 6
    assert [stage.name for stage in needed_stages(plan)] == ["teacher", "student", "student-int8"]
