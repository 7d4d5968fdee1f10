"""XLM as published: lists of parts instead of layers, languages, its tokenizer."""

import json

import pytest
import torch
from transformers import XLMConfig, XLMForSequenceClassification

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.layers import Layers
from niwaki.models.forward import forward
from niwaki.models.model import load_folder
from niwaki.models.skeleton import build

TINY = {"dropout": 0.0, "attention_dropout": 0.0}  # numbers, not modules that a test could set


def published(folder):
    torch.manual_seed(4)
    sizes = {"emb_dim": 32, "n_layers": 3, "n_heads": 4, "n_langs": 3, "max_position_embeddings": 64}
    network = XLMForSequenceClassification(XLMConfig(vocab_size=len(tiny.tokenizer()), pad_token_id=0, **sizes)).eval()
    network.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return network


def test_logits_and_gradients_equal_transformers(tmp_path):
    reference, model = published(tmp_path), load_folder(tmp_path)
    batch = tiny.batch(model)
    found, wanted = forward(model.anatomy, batch).logits, reference(**batch.inputs).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    for logits in (found, wanted):
        (logits * weights).sum().backward()
    gradients = {name: value.grad for name, value in reference.named_parameters()}
    parts = dict(tiny.ABOUT["xlm"].layer.stack.lists)
    for name, value in model.network.named_parameters():
        for part, listed in parts.items():
            for number in range(3):
                name = name.replace(f"transformer.layer.{number}.{part}.", f"transformer.{listed}.{number}.")
        theirs = gradients[name]
        if value.grad is not None:
            torch.testing.assert_close(value.grad, theirs, atol=1e-4, rtol=0, msg=name)


def test_a_shorter_network_is_saved_as_transformers_reads_it(tmp_path):
    published(tmp_path)
    model, again = load_folder(tmp_path), tmp_path / "again"
    again.mkdir()
    model.apply_edit(Layers(keep=[0, 2]))
    model.save(again)
    batch = tiny.batch(model)
    network = XLMForSequenceClassification.from_pretrained(again).eval()
    assert len(network.transformer.attentions) == 2 and "transformer.lang_embeddings.weight" in network.state_dict()
    wanted = forward(model.anatomy, batch).logits
    torch.testing.assert_close(network(**batch.inputs).logits, wanted, atol=1e-5, rtol=0)


def test_its_own_tokenizer_is_rejected_with_a_reason(tmp_path):
    """It splits words by rules of Moses, which no tokenizer.json states."""
    published(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "vocab.json").write_text(json.dumps({"<s>": 0}))
    (tmp_path / "merges.txt").write_text("")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLMTokenizer"}))
    with pytest.raises(InputError, match=r"XLMTokenizer splits words by code.*put a tokenizer.json"):
        load_folder(tmp_path)


@pytest.mark.parametrize(("key", "value"), [("causal", True), ("asm", True), ("summary_type", "last")])
def test_other_networks_are_rejected_by_name(key, value):
    values = tiny.config("xlm", 1, 32, 4, 64, tiny.LABELS, "SequenceClassification")
    with pytest.raises(InputError, match=f"an xlm with {key} = {value} is not supported"):
        build({**values, key: value})
