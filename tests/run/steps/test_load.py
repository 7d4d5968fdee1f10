"""The model that a stage starts from."""

from safetensors.torch import load_file

import tiny
from niwaki.core.files import read_json
from run.teaching import LOGITS, TRAIN, run


def test_stage_starts_from_another_pretrained_model(recipe, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    tiny.model("roberta", layers=2).save(other)
    stage = {"name": "learner", "model": str(other), "teacher": "teacher", "methods": [LOGITS], "train": TRAIN}
    *_, learner_folder = run(recipe(stage), tmp_path / "run")
    assert read_json(learner_folder / "model" / "config.json")["model_type"] == "roberta"
    own, before = (load_file(folder / "model.safetensors") for folder in (learner_folder / "model", other))
    name = "roberta.encoder.layer.0.output.dense.weight"
    assert not own[name].equal(before[name]) and own[name].sub(before[name]).abs().max() < 0.1  # it began there
    assert (tmp_path / ".teachers").exists()
