"""The forward pass equals transformers' for every family and head."""

import copy

import pytest
import torch

import tiny
from niwaki.models.attention import causal_bias, window_bias
from niwaki.models.forward import forward, run_padded
from niwaki.models.position_bias import position_bias
from niwaki.models.record import ATTENTION, HIDDEN, SCORES
from niwaki.models.skeleton import HEADS


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
def test_logits_equal_those_of_transformers(model, pairs):
    batch = tiny.batch(model, pairs=pairs)
    lean = run_padded(model.anatomy, batch.inputs)
    wanted = by_transformers(model, batch)
    assert wanted.shape == ((6, *batch.mask.shape[1:], 2) if model.anatomy.per_token else (6, 2))
    torch.testing.assert_close(tiny.real(lean, batch), tiny.real(wanted, batch), atol=1e-5, rtol=0)
    assert lean.std() > 0.05  # random weights that say something


@torch.no_grad()
def test_packed_logits_equal_those_of_transformers(model):
    batch = tiny.batch(model, pairs=True)
    found, wanted = forward(model.anatomy, batch).logits, by_transformers(model, batch)
    if model.anatomy.per_token:
        found, wanted = found[batch.mask.bool()], wanted[batch.mask.bool()]
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def test_token_types_are_read_if_the_family_has_them(model):
    batch = tiny.batch(model, pairs=True)
    assert ("token_type_ids" in batch.inputs) == model.anatomy.family.inputs.uses_token_types
    if model.anatomy.family.inputs.uses_token_types:
        types = batch.inputs["token_type_ids"]
        assert types.max() == 1
        without = {**batch.inputs, "token_type_ids": torch.zeros_like(types)}
        assert not torch.allclose(run_padded(model.anatomy, batch.inputs), run_padded(model.anatomy, without))


@torch.no_grad()
def test_attention_scores_equal_those_of_transformers(model):
    """Would not hold if a family computed keys before queries, or if the scores were not scaled."""
    batch = tiny.batch(model)
    outputs = forward(model.anatomy, batch, frozenset({SCORES, HIDDEN}))
    eager = copy.deepcopy(model.network)
    eager.set_attn_implementation("eager")
    wanted = eager(**batch.inputs, output_attentions=True, output_hidden_states=True)
    assert len(outputs.scores) == len(wanted.attentions) == len(model.anatomy.order) == 3
    bias, real = position_bias(model.anatomy, outputs.hidden[0]), batch.mask.bool()
    shown = forward(model.anatomy, batch, frozenset({ATTENTION})).attention
    later = causal_bias(outputs.hidden[0]) if model.anatomy.is_causal else 0
    runs = [model.anatomy.layers[number].mixer for number in model.anatomy.order]
    for mixer, scores, weights, attention in zip(runs, outputs.scores, shown, wanted.attentions, strict=True):
        far = window_bias(scores.shape[-1], mixer.window, scores) if mixer.window else 0
        masked = far + scores + later + (0 if bias is None else bias) - 1e9 * (1 - batch.mask[:, None, None, :].float())
        rows = real[:, None].expand(-1, attention.shape[1], -1)  # what padding attends to means nothing
        torch.testing.assert_close(masked.softmax(-1)[rows], attention[rows], atol=1e-5, rtol=0)
        torch.testing.assert_close(weights[rows], attention[rows], atol=1e-5, rtol=0)
        assert weights[~rows].abs().max() == 0
    for own, theirs in zip(outputs.hidden, wanted.hidden_states, strict=True):
        torch.testing.assert_close(own[real], theirs[real], atol=1e-5, rtol=0)


def test_only_named_activations_are_recorded(model):
    outputs = forward(model.anatomy, tiny.batch(model))
    assert outputs.hidden == () and outputs.scores == ()
    outputs = forward(model.anatomy, tiny.batch(model), frozenset({SCORES}))
    assert len(outputs.scores) == 3 and outputs.hidden == () and outputs.queries == ()
