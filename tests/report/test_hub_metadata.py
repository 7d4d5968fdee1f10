"""Metadata of model cards: the keys that the Hub reads, accepted by its client."""

from pathlib import Path

import pytest
import yaml
from huggingface_hub import ModelCardData

from niwaki import report
from niwaki.core import files
from niwaki.report.hub_metadata import base_model, yaml_lines

from .runs import change, make_run


@pytest.fixture
def head(tmp_path: Path):
    """The metadata of a run in France."""
    run = make_run(tmp_path / "demo")
    home = next(run.glob("stages/int8-*"))
    (home / "model").mkdir()
    spent = {**files.read_json(home / "result.json")["spent"], "co2e_grams": 0.25}
    change(home / "result.json", spent=spent)
    lines = files.read_lines(run / "ledger.jsonl")
    lines[-1]["reading"]["detail"] = {"grid": {"place": "FRA", "grams_per_kwh": 44, "pue": 1}}
    (run / "ledger.jsonl").write_text("")
    for line in lines:
        files.append_line(run / "ledger.jsonl", line)
    report.write(run)
    return yaml.safe_load((home / "model" / "README.md").read_text().split("---\n")[1])


def test_card_states_origin_data_and_emissions(head):
    assert head["base_model"] == "sentence-transformers/all-MiniLM-L6-v2" and head["language"] == "en"
    assert head["datasets"] == ["cornell-movie-review-data/rotten_tomatoes"]
    assert head["tags"] == ["niwaki", "onnx", "quantized", "energy-label"]
    assert head["co2_eq_emissions"] == {
        "emissions": 0.25,
        "source": "niwaki (estimated)",
        "training_type": "fine-tuning",
        "geographical_location": "FRA",
        "hardware_used": "Example CPU @ 2.0 GHz",
    }


def test_the_client_of_the_hub_reads_all_of_it(head):
    data = ModelCardData(**head)
    assert data.eval_results is not None and data.pipeline_tag == "text-classification"
    found = {one.metric_type: one.metric_value for one in data.eval_results}
    assert found == {"accuracy": 0.8205, "f1": 0.8205}
    assert data.eval_results[0].dataset_split == "test" and data.model_name == "demo-int8"
    again = yaml.safe_load(data.to_yaml())
    assert again["co2_eq_emissions"] == head["co2_eq_emissions"] and again["base_model"] == head["base_model"]


@pytest.mark.parametrize("name", ["models/a/b", "/data/model", "../x/y", "my-model", None])
def test_folders_are_not_published_as_base_models(name):
    assert base_model(name) is None


def test_texts_cannot_leave_their_place_in_the_block():
    value = {"a": "x\n---\nb: 1", "list": [{"name": "- y", "more": [1, None]}, "z"], "empty": []}
    assert yaml.safe_load("\n".join(yaml_lines(value))) == value
    assert all(line != "---" for line in yaml_lines(value))
