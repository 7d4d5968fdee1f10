"""CANINE as published: characters, hash tables, one vector for every four characters."""

import pytest
import torch
from transformers import CanineConfig, CanineForSequenceClassification

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import Batch, forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.skeleton import build

TINY = {"num_hash_buckets": 50, "num_hash_functions": 4, "local_transformer_stride": 12}
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "num_hash_buckets": 70,
    "local_transformer_stride": 8,
}


def published(folder):
    torch.manual_seed(5)
    network = CanineForSequenceClassification(CanineConfig(**SIZES)).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 10)
    network.save_pretrained(folder)
    tiny.tokenizer().save_pretrained(folder)  # its own has a row for each character; see test_published_tokenizer.py
    return network


def batch_of(lengths, group=4):
    """Code points of texts and pairs, padded to a multiple of the group."""
    generator, longest = torch.Generator().manual_seed(0), -(-max(lengths) // group) * group
    mask = (torch.arange(longest)[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(1, 0x10FFFF, mask.shape, generator=generator) * mask
    types = (torch.arange(longest)[None] * 2 > torch.tensor(lengths)[:, None]).long() * mask
    return Batch({"input_ids": ids, "attention_mask": mask, "token_type_ids": types}, mask, torch.arange(len(lengths)))


@pytest.mark.parametrize("lengths", [[1, 4, 5, 8], [9, 30, 31, 12], [40, 36, 13, 24]], ids=str)
def test_logits_and_gradients_equal_transformers(lengths, tmp_path):
    reference, model, batch = published(tmp_path), load_folder(tmp_path), batch_of(lengths)
    found, wanted = forward(model.anatomy, batch).logits, reference(**batch.inputs).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), wanted, atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    for logits in (found, wanted):
        (logits * weights).sum().backward()
    for name, value in model.network.named_parameters():
        theirs = reference.get_parameter(name.replace("hash_table.", "HashBucketCodepointEmbedder_")).grad
        assert (value.grad is None) == (theirs is None), name
        if theirs is not None:
            torch.testing.assert_close(value.grad, theirs, atol=1e-4, rtol=0, msg=name)


@torch.no_grad()
def test_a_text_gives_the_same_in_every_batch(tmp_path):
    published(tmp_path)
    model, batch = load_folder(tmp_path), batch_of([3, 18, 29, 7])
    together = forward(model.anatomy, batch).logits
    for row, length in enumerate(batch.mask.sum(dim=1).tolist()):
        alone = {name: value[row : row + 1, :length] for name, value in batch.inputs.items()}
        found = forward(model.anatomy, Batch(alone, None, None)).logits
        torch.testing.assert_close(found, together[row : row + 1], atol=1e-5, rtol=0)


@torch.no_grad()
def test_cut_and_packed_it_is_saved_and_loaded(tmp_path):
    model, batch = tiny.model("canine"), batch_of([9, 30, 12])
    model.apply_edit(Heads(keep=[[0, 3], [1], [2]]))
    model.apply_edit(Int8())
    wanted = forward(model.anatomy, batch).logits
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, wanted)


def test_a_saved_network_has_the_tensors_of_the_checkpoint(tmp_path):
    reference, again = published(tmp_path), tmp_path / "again"
    again.mkdir()
    load_folder(tmp_path).save(again)
    stored = CanineForSequenceClassification.from_pretrained(again).state_dict()
    assert all(torch.equal(value, stored[name]) for name, value in reference.state_dict().items())


def test_what_it_does_not_have_is_rejected_by_name():
    with pytest.raises(InputError, match="vocabulary: a model of family 'canine' has no table of tokens"):
        tiny.model("canine").apply_edit(Vocabulary(keep=9))
    for head, reason in {
        "TokenClassification": "answers for whole texts, not for tokens",
        "FeatureExtraction": "has no sentence embeddings",
        "MaskedLM": "has no head for MaskedLM",
    }.items():
        with pytest.raises(InputError, match=reason):
            build(tiny.config("canine", 1, 32, 4, 64, [], head))
