"""Untrained networks from configs: which are built, and which are rejected with the key and the fix."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import write_json
from niwaki.models import skeleton
from niwaki.models.meta_device import on_meta_device
from niwaki.models.skeleton import (
    ALL,
    CONDITIONAL_GENERATION,
    DETECTOR,
    FEATURE_EXTRACTION,
    HEADS,
    MASKED_LM,
    SEQUENCE_CLASSIFICATION,
    attention,
    build,
    checked_config,
    head_of,
    read_config,
    shape_of,
)


def config(family: str = "bert", head: str = SEQUENCE_CLASSIFICATION, **more):
    return {**tiny.config(family, 2, 16, 2, 24, tiny.LABELS, head), **more}


@pytest.mark.parametrize("head", HEADS)
def test_networks_have_the_sizes_and_the_head_of_the_config(head):
    network = build(config(head=head))
    assert type(network).__name__ == f"BertFor{head}"
    assert network.config.hidden_size == 16 and len(network.bert.encoder.layer) == 2


def test_a_skeleton_takes_no_memory():
    with on_meta_device():
        network = build(config())
    assert all(parameter.is_meta for parameter in network.parameters())


@pytest.mark.parametrize(
    ("names", "head"),
    [
        (["BertForSequenceClassification"], SEQUENCE_CLASSIFICATION),
        (["Unknown", "TinyForTokenClassification"], "TokenClassification"),
        (["BertForMaskedLM"], MASKED_LM),
        (["MarianMTModel", "BartForConditionalGeneration"], CONDITIONAL_GENERATION),
        (["BertModel"], FEATURE_EXTRACTION),
    ],
)
def test_the_first_known_architecture_names_the_head(names, head):
    assert head_of({"architectures": names}) == head


@pytest.mark.parametrize("names", [["BertForNextSentence"], None, []])
def test_unknown_heads_are_rejected_with_those_that_are_known(names):
    with pytest.raises(
        InputError, match=r"has none of the heads niwaki knows \(.*SequenceClassification.*fine-tune it"
    ):
        head_of({"architectures": names, "model_type": "bert"})


@pytest.mark.parametrize(
    ("family", "head", "message"),
    [
        ("bert", CONDITIONAL_GENERATION, "has no head for ConditionalGeneration"),
        ("cnn", FEATURE_EXTRACTION, "has no sentence embeddings"),
        ("averaging", MASKED_LM, "has no head for MaskedLM"),
        ("mpnet", DETECTOR, r"has no head for PreTraining; take another family, e\.g\. 'electra'"),
        ("averaging", "TokenClassification", "answers for whole texts, not for tokens"),
    ],
)
def test_heads_that_a_family_lacks_are_rejected(family, head, message):
    values = config(family, SEQUENCE_CLASSIFICATION, architectures=[f"TinyFor{head}"])
    with pytest.raises(InputError, match=f"^config: a model of family '{family}' .*{message}|^config: .*{message}"):
        build(values)


def test_unknown_families_are_named_with_the_known_ones():
    with pytest.raises(InputError, match=r"^here: model_type 'bart2' is not supported; there is: .*bert.*install the"):
        checked_config({"model_type": "bart2"}, "here")


def test_numbers_that_make_no_network_are_one_line():
    with pytest.raises(InputError, match=r"^config: describes no network that can be made") as caught:
        build(config(num_attention_heads=3))  # 16 is not a multiple of 3
    assert len(caught.value.faults) == 1


def test_the_config_of_a_folder_is_read_and_checked(tmp_path):
    write_json(tmp_path / "config.json", config(transformers_version="5.0", unknown_to_us=1))
    found = read_config(tmp_path)
    assert found["hidden_size"] == 16 and "unknown_to_us" not in found
    write_json(tmp_path / "config.json", {"model_type": 3})
    with pytest.raises(InputError, match=rf"^{tmp_path / 'config.json'}: model_type 3"):
        read_config(tmp_path)


def test_an_untied_output_matrix_stays_untied():
    network = build(config("llama", MASKED_LM, architectures=["LlamaForCausalLM"], tie_word_embeddings=False))
    assert network.config.tie_word_embeddings is False
    assert network.lm_head.weight is not network.model.embed_tokens.weight


def test_every_pretraining_head_is_no_task_head():
    assert set(HEADS) < set(ALL) and not {MASKED_LM, DETECTOR, FEATURE_EXTRACTION} & set(HEADS)


@pytest.mark.parametrize(("gpu", "kind"), [(True, "sdpa"), (False, "eager")])
def test_the_fused_attention_kernel_is_for_graphics_cards(monkeypatch, gpu, kind):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    assert attention() == kind


def test_the_shape_of_a_config_is_cached_and_takes_no_memory():
    config, wider = (tiny.model("bert", width=width).config() for width in (32, 64))
    shape = shape_of(config)
    assert shape is shape_of(dict(config)) and shape is not shape_of(wider)
    expected = {name: value.shape for name, value in build(config).state_dict().items()}
    assert {name: value.shape for name, value in shape.state_dict().items()} == expected
    assert all(value.is_meta for value in shape.parameters())


def test_few_shapes_are_cached(monkeypatch):
    monkeypatch.setattr(skeleton, "_SHAPES", {})
    monkeypatch.setattr(skeleton, "MAX_SHAPES", 2)
    for width in (8, 16, 24, 32):
        shape_of(tiny.model("bert", width=width, heads=2).config())
        assert len(skeleton._SHAPES) <= 2
