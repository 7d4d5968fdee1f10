"""Blueprints: invalid files are rejected, configs survive edits."""

import pytest

import tiny
from models.loading import change
from niwaki.core.errors import InputError
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.model import load_folder


@pytest.mark.parametrize(
    "values, words",
    [
        ({"edits": [{"edit": "melt"}]}, ["blueprint edit 'melt' is not known; there is: add_delta, blocks, decoder"]),
        ({"edits": [{"edit": "heads", "keep": [1, 1, 9]}]}, ["heads of layer 2", "below 4"]),
        ({"edits": [{"edit": "heads", "keep": [1, 1]}]}, ["2 layers are named and the model has 3"]),
        ({"edits": [{"edit": "heads", "keep": [10**14, 1, 1]}]}, ["heads of layer 0"]),
        ({"edits": [{"edit": "heads", "keep": [10**400, 1, 1]}]}, ["heads of layer 0"]),
        ({"edits": [{"edit": "heads", "kepp": [1]}]}, ["edits.0.kepp: unknown key, did you mean 'keep'?"]),
        ({"edits": [{"edit": "heads", "keep": "all"}]}, ["edits.0.keep"]),
        ({"edits": [{"edit": "../../heads"}]}, ["is not known"]),
        ({"edits": [{"edit": "os"}]}, ["is not known"]),
        ({"edits": ["heads"]}, ["edits.0: must be a table"]),
        ({"edits": {}}, ["must hold"]),
        ({"edits": [{"edit": "int8"}] * 201}, ["more than 200 edits"]),
        ({"edits": [{"edit": "int8"}]}, ["model.safetensors: tensor"]),
        ({"version": 2}, ["version '2' is not known"]),
        ({"base": []}, ["must hold"]),
        ({"base": {}}, ["model_type None"]),
        ({"base": {"model_type": "bert", "auto_map": {"x": "y"}}}, ["auto_map"]),
        (
            {
                "base": {
                    "model_type": "bert",
                    "architectures": ["BertForSequenceClassification"],
                    "hidden_size": 9_000_000,
                    "num_attention_heads": 1,
                }
            },
            [""],
        ),
    ],
)
def test_invalid_blueprint_is_rejected(edited, values, words):
    change(edited / "blueprint.json", **values)
    with pytest.raises(InputError) as caught:
        load_folder(edited)
    for word in words:
        assert word in str(caught.value)
    assert all("\n" not in fault and len(fault) < 500 for fault in caught.value.faults)


def test_config_keys_other_than_sizes_survive_edits(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[1, 2, 3]))
    model.apply_edit(Vocabulary(keep=[5, *range(5), *range(6, 70)]))
    model.network.config.niwaki_max_tokens = 17
    model.save(tmp_path)
    again = load_folder(tmp_path).network.config
    assert (again.pad_token_id, again.niwaki_max_tokens, again.vocab_size) == (1, 17, 70)
