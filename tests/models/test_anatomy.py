"""The anatomy of every family agrees with its config."""

import pytest
import torch

import tiny
from niwaki.models.embedding_tables import all_tables
from niwaki.models.skeleton import HEADS


@pytest.fixture(scope="module", params=[(family, head) for family in tiny.FAMILIES for head in HEADS], ids=" ".join)
def model(request):
    family, head = request.param
    return tiny.model(family, head=head)


def test_anatomy_agrees_with_the_config(model):
    anatomy, config = model.anatomy, model.network.config
    assert anatomy.hidden_size == getattr(config, anatomy.family.keys.hidden_size) == 32
    assert len(anatomy.order) == getattr(config, anatomy.family.keys.depth) == 3
    assert {layer.heads for layer in anatomy.layers} == {getattr(config, anatomy.family.keys.heads)} == {4}
    stated = (
        getattr(config, anatomy.family.keys.ffn_size) if anatomy.family.keys.ffn_size else 4 * 32
    )  # always four times
    assert {layer.ffn_size for layer in anatomy.layers} == {stated}
    assert {layer.head_size for layer in anatomy.layers} == {8}
    assert anatomy.tokens.num_embeddings == config.vocab_size == len(model.tokenizer)
    assert all(0 <= number < len(anatomy.layers) for number in anatomy.order)


def test_anatomy_finds_every_matrix_once(model):
    """All matrices of the network are the anatomy's, its head's, or the small ones that are not cut."""
    anatomy = model.anatomy
    named = {name for name, module in model.network.named_modules() if isinstance(module, torch.nn.Linear)}
    found = list(anatomy.matrices())
    head = {*anatomy.head.inner, anatomy.head.final}
    assert len(found) == len(set(found))
    assert set(found) | head == named and not set(found) & head
    tables = {name for name, module in model.network.named_modules() if isinstance(module, torch.nn.Embedding)}
    assert set(all_tables(anatomy)) <= tables
    assert tables - set(all_tables(anatomy)) <= {
        "mpnet.encoder.relative_attention_bias",
        "roformer.encoder.embed_positions",
        "roberta.embeddings.token_type_embeddings",
    }
    for layer in anatomy.layers:
        assert all(isinstance(layer.part(part), torch.nn.Module) for part in (*layer.matrices(), *layer.norms))


def test_max_tokens_follows_from_the_positions(model):
    longest = model.anatomy.max_tokens
    ids = torch.full((1, longest), model.tokenizer.convert_tokens_to_ids("film"))
    model.network(input_ids=ids, attention_mask=torch.ones_like(ids))
    if not any(
        "position" in path for path in model.anatomy.inputs.small_tables
    ):  # positions are computed, not looked up
        return
    too_long = torch.full((1, longest + 1), ids[0, 0].item())
    with pytest.raises((IndexError, RuntimeError)):
        model.network(input_ids=too_long, attention_mask=torch.ones_like(too_long))
