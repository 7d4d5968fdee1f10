"""Llama as published: old and new keys of its config, output matrices with numbers of their own, long texts."""

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import Batch, forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM, build

TINY = {"tie_word_embeddings": True}
LANGUAGE_MODEL = Head([], MASKED_LM, {"kind": "likelihood"})


def published(folder, **more):
    torch.manual_seed(3)
    shape = {
        "vocab_size": 113,
        "hidden_size": 36,
        "intermediate_size": 50,
        "num_hidden_layers": 2,
        "num_attention_heads": 6,
    }
    network = LlamaForCausalLM(LlamaConfig(**{**shape, "max_position_embeddings": 300, **more})).eval()
    network.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return network


@pytest.mark.parametrize(
    "more",
    [
        {"num_key_value_heads": 2, "tie_word_embeddings": True},
        {"num_key_value_heads": 1, "head_dim": 10, "attention_bias": True, "mlp_bias": True},
        {"num_key_value_heads": 6, "rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 5e5}},
    ],
    ids=["grouped", "biases", "scaled"],
)
def test_logits_and_gradients_equal_transformers(more, tmp_path):
    reference, model = published(tmp_path, **more), load_folder(tmp_path, LANGUAGE_MODEL)
    lengths = torch.tensor([1, 300, 17, 16])
    mask = (torch.arange(300)[None] < lengths[:, None]).long()
    ids = torch.randint(5, 113, mask.shape, generator=torch.Generator().manual_seed(0)) * mask
    real = mask.bool()
    batch = Batch({"input_ids": ids, "attention_mask": mask}, ids, torch.arange(4), predicted=real)
    found, wanted = forward(model.anatomy, batch).logits, reference(input_ids=ids, attention_mask=mask).logits[real]
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1)) / 100
    for logits in (found, wanted):
        (logits * weights).sum().backward()
    for name, value in model.network.named_parameters():
        torch.testing.assert_close(value.grad, reference.get_parameter(name).grad, atol=1e-4, rtol=0, msg=name)


def test_keys_of_older_configs_are_read(tmp_path):
    """`rope_theta` stood by itself before transformers 5."""
    values = tiny.config("llama", 1, 32, 4, 64, [], MASKED_LM)
    network = build({**values, "rope_theta": 123.0, "rope_scaling": None})
    (layer,) = tiny.Model(network, None).anatomy.layers
    assert layer.part("attention_module").rotation.theta == 123.0


def test_unknown_angles_are_rejected():
    values = tiny.config("llama", 1, 32, 4, 64, [], MASKED_LM)
    with pytest.raises(InputError, match="rope_scaling with 'yarn' is not supported"):
        build({**values, "rope_scaling": {"rope_type": "yarn", "factor": 2.0}})


@torch.no_grad()
def test_a_saved_language_model_is_transformers_own(tmp_path):
    published(tmp_path, num_key_value_heads=3)
    model = load_folder(tmp_path, LANGUAGE_MODEL)
    again = tmp_path / "again"
    again.mkdir()
    model.save(again)
    stock = AutoModelForCausalLM.from_pretrained(again)
    assert stock.state_dict().keys() == model.network.state_dict().keys()
