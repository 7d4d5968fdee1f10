"""Every family under every head: the lean pass is transformers' own, attention scores are the real ones, the anatomy agrees with the config."""

import copy
from pathlib import Path

import pytest
import torch

import tiny
from niwaki.models.anatomy import anatomy_of
from niwaki.models.embedding_tables import all_tables
from niwaki.models.family import FAMILIES
from niwaki.models.forward import forward, position_bias, run_padded
from niwaki.models.record import HIDDEN, SCORES
from niwaki.models.skeleton import HEADS


def test_every_family_is_tested():
    """Here, or in a file of its own, as `niwaki new family` writes one."""
    own = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "families").glob("test_*.py")}
    assert set(FAMILIES.names()) == set(tiny.FAMILIES) | own


@pytest.fixture(scope="module", params=[(family, head) for family in tiny.FAMILIES for head in HEADS], ids=" ".join)
def model(request):
    family, head = request.param
    return tiny.model(family, head=head)


@torch.no_grad()
def by_transformers(model, batch):
    """As transformers' own class gives it; of a span, the two logits of each token next to each other."""
    found = model.network.eval()(**batch.inputs)
    if model.anatomy.head.architecture == "QuestionAnswering":
        return torch.stack([found.start_logits, found.end_logits], dim=-1)
    return found.logits


@pytest.mark.parametrize("pairs", [False, True])
@torch.no_grad()
def test_lean_equals_transformers(model, pairs):
    batch = tiny.batch(model, pairs=pairs)
    lean = run_padded(model.anatomy, batch.inputs)
    wanted = by_transformers(model, batch)
    assert wanted.shape == ((6, *batch.mask.shape[1:], 2) if model.anatomy.per_token else (6, 2))
    torch.testing.assert_close(lean, wanted, atol=1e-5, rtol=0)
    assert lean.std() > 0.05  # random weights that say something


@torch.no_grad()
def test_what_training_sees_is_what_transformers_gives(model):
    batch = tiny.batch(model, pairs=True)
    found, wanted = forward(model.anatomy, batch).logits, by_transformers(model, batch)
    if model.anatomy.per_token:
        found, wanted = found[batch.mask.bool()], wanted[batch.mask.bool()]
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def test_token_types_are_read_where_the_family_has_them(model):
    batch = tiny.batch(model, pairs=True)
    assert ("token_type_ids" in batch.inputs) == model.anatomy.family.inputs.uses_token_types
    if model.anatomy.family.inputs.uses_token_types:
        types = batch.inputs["token_type_ids"]
        assert types.max() == 1
        without = {**batch.inputs, "token_type_ids": torch.zeros_like(types)}
        assert not torch.allclose(run_padded(model.anatomy, batch.inputs), run_padded(model.anatomy, without))


@torch.no_grad()
def test_recorded_scores_are_those_that_transformers_softmaxes(model):
    """Would not hold if a family computed keys before queries, or if the scores were not scaled."""
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset({SCORES, HIDDEN}))
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    wanted = eager(**batch.inputs, output_attentions=True, output_hidden_states=True)
    assert len(outputs.scores) == len(wanted.attentions) == len(model.anatomy.order) == 3
    bias, real = position_bias(model.anatomy, outputs.hidden[0]), batch.mask.bool()
    for scores, attention in zip(outputs.scores, wanted.attentions, strict=True):
        masked = scores + (0 if bias is None else bias) - 1e9 * (1 - batch.mask[:, None, None, :].float())
        rows = real[:, None].expand(-1, attention.shape[1], -1)  # what padding attends to means nothing
        torch.testing.assert_close(masked.softmax(-1)[rows], attention[rows], atol=1e-5, rtol=0)
    for own, theirs in zip(outputs.hidden, wanted.hidden_states, strict=True):
        torch.testing.assert_close(own[real], theirs[real], atol=1e-5, rtol=0)


def test_only_named_activations_are_recorded(model):
    outputs = forward(model.anatomy, tiny.batch(model))
    assert outputs.hidden == () and outputs.scores == ()
    outputs = forward(model.anatomy, tiny.batch(model), frozenset({SCORES}))
    assert len(outputs.scores) == 3 and outputs.hidden == () and outputs.queries == ()


def test_anatomy_agrees_with_the_config(model):
    anatomy, config = model.anatomy, model.network.config
    assert anatomy.hidden_size == getattr(config, anatomy.family.keys.hidden_size) == 32
    assert len(anatomy.order) == getattr(config, anatomy.family.keys.depth) == 3
    assert {layer.heads for layer in anatomy.layers} == {getattr(config, anatomy.family.keys.heads)} == {4}
    assert {layer.ffn_size for layer in anatomy.layers} == {getattr(config, anatomy.family.keys.ffn_size)} == {64}
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
        "roberta.embeddings.token_type_embeddings",
    }
    for layer in anatomy.layers:
        assert all(isinstance(layer.part(part), torch.nn.Module) for part in (*layer.matrices(), *layer.norms))


def test_max_tokens_is_what_the_positions_allow(model):
    longest = model.anatomy.max_tokens
    ids = torch.full((1, longest), model.tokenizer.convert_tokens_to_ids("film"))
    model.network(input_ids=ids, attention_mask=torch.ones_like(ids))
    too_long = torch.full((1, longest + 1), ids[0, 0].item())
    with pytest.raises((IndexError, RuntimeError)):
        model.network(input_ids=too_long, attention_mask=torch.ones_like(too_long))


def test_an_unknown_family_is_rejected_with_the_known_ones():
    from types import SimpleNamespace

    from niwaki.core.errors import InputError

    with pytest.raises(InputError, match="'gpt9' has no anatomy; there is: albert, averaging, bart, bert"):
        anatomy_of(SimpleNamespace(config=SimpleNamespace(model_type="gpt9")))
