"""Which folders hold a plain pretrained encoder: every family, every way in which such a model is saved."""

import json
from pathlib import Path

import pytest
import transformers

import tiny
from niwaki.models.fine_tuned import fine_tuned
from niwaki.models.model import Model
from niwaki.models.skeleton import HEADS


def saved(network: transformers.PreTrainedModel, folder: Path) -> Path:
    network.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_bare_encoder_is_plain(family, tmp_path):
    assert fine_tuned(saved(tiny.model(family).network.base_model, tmp_path)) == ""


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("kind", ["AutoModelForMaskedLM", "AutoModelForPreTraining"])
def test_an_encoder_with_a_head_of_pretraining_is_plain(family, kind, tmp_path):
    config = tiny.model(family).network.config
    kind = kind if family in tiny.ENCODING else "AutoModelForCausalLM"
    if kind == "AutoModelForPreTraining" and type(config) not in transformers.MODEL_FOR_PRETRAINING_MAPPING:
        kind = "AutoModelForMaskedLM"
    network = getattr(transformers, kind).from_config(config)
    assert fine_tuned(saved(network, tmp_path)) == ""


@pytest.mark.parametrize("family", tiny.FAMILIES)
@pytest.mark.parametrize("head", HEADS)
def test_a_task_head_is_recognized(family, head, tmp_path):
    found = tiny.model(family, head=head).network
    assert "task head" in fine_tuned(saved(found, tmp_path))


@pytest.mark.parametrize("family", tiny.READERS)
def test_networks_without_attention_are_trained_for_a_task(family, tmp_path):
    tiny.model(family).save(tmp_path)
    assert fine_tuned(tmp_path)


def test_a_config_that_names_a_head_does_not_count_without_its_weights(tmp_path):
    saved(tiny.model().network.base_model, tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "architectures": ["BertForSequenceClassification"]}))
    assert fine_tuned(tmp_path) == ""


def test_what_niwaki_saved_counts_without_a_head_too(tmp_path):
    model: Model = tiny.model()
    model.network.config.niwaki_max_tokens = 24
    assert "niwaki" in fine_tuned(saved(model.network.base_model, tmp_path))


def test_an_edited_model_counts(tmp_path):
    from niwaki.models.edits.int8 import Int8

    model = tiny.model()
    model.apply_edit(Int8())
    model.save(tmp_path)
    assert "blueprint.json" in fine_tuned(tmp_path)


def test_word_vectors_and_language_models_have_seen_no_labels(tmp_path):
    for name, family, head, kind in (
        ("words", "averaging", "FeatureExtraction", "embedding"),
        ("tokens", "bert", "MaskedLM", "likelihood"),
    ):
        model: Model = tiny.model(family, head=head, labels=[])
        model.network.config.niwaki_answer = {"kind": kind}
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
        assert fine_tuned(tmp_path / name) == ""
