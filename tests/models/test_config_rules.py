"""Configs by allow-list: keys that describe a shape stay, unknown keys are dropped, keys that control loading are rejected."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.config_rules import checked, readable_tokens
from niwaki.models.saved_files import config_of


@pytest.mark.parametrize("family", tiny.FAMILIES + tiny.READERS)
def test_configs_of_transformers_stay_complete(family):
    config = config_of(tiny.model(family).network)
    assert checked(config, "x") == config


def test_unknown_config_keys_are_left_out():
    cleaned = checked(
        {"hidden_size": 8, "dtype": "torch.float16", "directionality": "bidi", "note": [1, 2], "old": None}, "x"
    )
    assert cleaned == {"hidden_size": 8, "dtype": "float16"}


@pytest.mark.parametrize(
    "key, value",
    [
        # the ways past trust_remote_code=False that were found in 2026, and their neighbours
        ("_attn_implementation_internal", "owner/kernel"),
        ("_attn_implementation", "owner/kernel"),
        ("attn_implementation", "owner/kernel"),
        ("attn_implementation", {"": "owner/kernel"}),
        ("experts_implementation", "owner/kernel:layer"),
        ("_experts_implementation_internal", "kernel"),
        ("trust_remote_code", True),
        ("keypoint_detector_config", {"trust_remote_code": True}),
        ("text_config", {"model_type": "bert"}),
        ("auto_map", {"AutoModel": "a.B"}),
        ("auto_map", "a.B"),
        ("kernel_config", 1),
        ("use_kernels", True),
        ("transformers_weights", "other.bin"),
        ("fusion_config", {"patch_embeddings": True}),
        ("quantization_config", {"quant_method": "x"}),
        ("distributed_config", 1),
        ("base_model", "https://example.org/model"),
        ("notes", "../../etc/passwd"),
        ("notes", ["/etc/passwd"]),
        ("notes", "C:\\evil"),
        # values of allowed keys
        ("dtype", "load"),
        ("hidden_act", "os.system"),
        ("tokenizer_class", "evil.Tokenizer"),
        ("hidden_size", True),
        ("hidden_size", 3.5),
        ("hidden_size", -8),
        ("num_hidden_layers", 201),
        ("hidden_dropout_prob", 2),
        ("architectures", ["a.b"]),
        ("id2label", {"0": "a\nb"}),
        ("id2label", {"0": ["a"]}),
        ("niwaki_answer", {"kind": ["label"]}),
        ("problem_type", "evil"),
    ],
)
def test_invalid_values_are_rejected(key, value):
    with pytest.raises(InputError) as caught:
        checked({"model_type": "bert", key: value}, "config.json")
    assert key in str(caught.value) and len(str(caught.value)) < 250


def test_groups_times_layers():
    with pytest.raises(InputError, match="200 layers"):
        checked({"num_hidden_groups": 100, "inner_group_num": 100}, "x")
    for key in ("num_hidden_groups", "inner_group_num"):  # found by fuzzing: null times a number
        assert checked({key: None}, "x") == {key: None}


def test_no_text_is_longer_than_there_are_positions():
    assert checked({"niwaki_max_tokens": 40, "max_position_embeddings": 40}, "x")
    with pytest.raises(InputError, match="niwaki_max_tokens is 41, and the model has positions for 40"):
        checked({"niwaki_max_tokens": 41, "max_position_embeddings": 40}, "x")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_text_may_be_as_long_as_a_family_has_positions_for(family):
    """Rejected from the config alone, before a network is loaded."""
    model = tiny.model(family)
    config = model.network.config.to_dict()
    assert readable_tokens(config) == model.anatomy.max_tokens
    assert readable_tokens({**config, "niwaki_max_tokens": 12}) == 12
