"""Training of a stage that has a teacher."""

import tiny
from niwaki.core.files import read_json
from niwaki.run.recipe import parse
from run.teaching import TRAIN, learner, run


def test_last_weights_are_saved_if_answers_are_not_trained(recipe, tmp_path):
    """Where answers are not trained, scores on the way say nothing: the last weights count, not the best."""
    methods = [{"use": "student", "layers": 2}, {"use": "tinybert", "prediction": 0.0}]
    *_, stage = run(recipe(learner(methods=methods, validations=4)), tmp_path / "run")
    training = read_json(stage / "result.json")["training"]
    assert training["best_step"] == training["steps"]


def test_general_distillation_is_followed_by_task_distillation(recipe, tmp_path):
    """The pretrained model teaches layers on plain text; the student then learns the task from the fine-tuned one."""
    own = tmp_path / "plain.txt"
    own.write_text("".join(f"{text}\n" for text, _ in tiny.sentences(64, seed=5)))
    layers = [{"use": "student", "layers": 2}, {"use": "tinybert", "prediction": 0.0}]
    general = learner(
        "general",
        layers,
        teacher="unchanged",
        start="pretrained",
        unlabelled=64,
        unlabelled_path=str(own),
        labelled=False,
    )
    stages = [{"name": "unchanged"}, general, learner("student", start="general")]
    small_recipe = parse(
        {
            **recipe().model_dump(),
            "stages": [*stages[:2], {"name": "teacher", "start": "pretrained", "train": TRAIN}, stages[2]],
        }
    )
    *_, student = run(small_recipe, tmp_path / "run")
    assert 0 <= read_json(student / "result.json")["score"]["value"] <= 1
