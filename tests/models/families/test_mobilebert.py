"""MobileBERT as published: norms without statistics, bottlenecks narrower than hidden states, heads with and without a pooler."""

import pytest
import torch
from transformers import MobileBertConfig, MobileBertForMaskedLM, MobileBertForSequenceClassification

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.forward import Batch, forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import MASKED_LM, build

TINY = {
    "true_hidden_size": 32,
    "intra_bottleneck_size": 32,
    "num_feedforward_networks": 2,
    "normalization_type": "layer_norm",  # random numbers grow without statistics
}
SIZES = {
    "hidden_size": 48,
    "embedding_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "intra_bottleneck_size": 16,
    "true_hidden_size": 16,
    "num_feedforward_networks": 3,
}


def published(kind, folder, **more):
    torch.manual_seed(2)
    network = kind(MobileBertConfig(vocab_size=len(tiny.tokenizer()), **SIZES, **more)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 20)
        network.mobilebert.embeddings.word_embeddings.weight[0] = 0  # of padding, as transformers begins
    network.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)
    return network


def compare(model, reference):
    batch = tiny.batch(model, pairs=True)
    found, wanted = forward(model.anatomy, batch).logits, reference(**batch.inputs).logits
    torch.testing.assert_close(tiny.real(found, batch), tiny.real(wanted, batch), atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1)) / 10
    for logits in (found, wanted):
        (tiny.real(logits, batch) * weights).sum().backward()
    for name, value in model.network.named_parameters():
        theirs = reference.get_parameter(name).grad
        if value.grad is not None:
            torch.testing.assert_close(
                value.grad, theirs, atol=1e-4, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}"
            )


@pytest.mark.parametrize("pools", [True, False])
def test_logits_and_gradients_equal_transformers(pools, tmp_path):
    """The published config says that the head has no matrix of its own before the last one."""
    reference = published(MobileBertForSequenceClassification, tmp_path, classifier_activation=pools)
    model = load_folder(tmp_path)
    assert bool(model.anatomy.head.inner) == pools
    compare(model, reference)


def test_the_masked_lm_head_has_a_second_matrix(tmp_path):
    reference = published(MobileBertForMaskedLM, tmp_path)
    compare(load_folder(tmp_path, Head([], MASKED_LM, {"kind": "likelihood"})), reference)


@torch.no_grad()
def test_a_text_is_embedded_alike_in_every_batch(tmp_path):
    """Also where a checkpoint has a vector for padding, which transformers reads behind the last token."""
    published(MobileBertForSequenceClassification, tmp_path)
    model = load_folder(tmp_path)
    model.anatomy.tokens.weight[0] = 1.0
    batch = tiny.batch(model)
    together = forward(model.anatomy, batch).logits
    for row, length in enumerate(batch.mask.sum(dim=1).tolist()):
        alone = {name: value[row : row + 1, :length] for name, value in batch.inputs.items()}
        wanted = model.network(**alone).logits
        torch.testing.assert_close(together[row : row + 1], wanted, atol=1e-5, rtol=0)
        torch.testing.assert_close(forward(model.anatomy, Batch(alone, None, None)).logits, wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def test_every_feed_forward_block_can_be_cut(tmp_path):
    model = tiny.model("mobilebert", layers=2)
    assert [block.ffn_size for block in model.anatomy.blocks] == [64] * 4
    batch = tiny.batch(model)
    for block in model.anatomy.blocks:
        block.consumer.weight[:, 10:] = 0
    wanted = forward(model.anatomy, batch).logits
    model.apply_edit(Ffn(keep=[[*range(10)]] * 4))
    torch.testing.assert_close(forward(model.anatomy, batch).logits, wanted, atol=1e-5, rtol=0)
    assert model.network.config.intermediate_size == 10  # so transformers can load it


def test_hidden_states_stay_as_wide_as_they_are():
    with pytest.raises(InputError, match="hidden_size: the layers of this family have bottlenecks"):
        tiny.model("mobilebert").apply_edit(HiddenSize(keep=16))


def test_other_networks_are_rejected_by_name():
    values = tiny.config("mobilebert", 1, 32, 4, 64, tiny.LABELS, "SequenceClassification")
    with pytest.raises(InputError, match="a mobilebert with trigram_input = False is not supported"):
        build({**values, "trigram_input": False})
