"""Packed rows give what padded rows give, and what transformers gives, outputs and gradients: every family, every head."""

import copy
import itertools
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import nn

import tiny
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import Batch, forward, from_embedded, read_types, run_padded
from niwaki.models.layout import Packed, Padded
from niwaki.models.record import ATTENTION, HIDDEN, SCORES, STATES
from niwaki.models.skeleton import HEADS
from selection import covering

NOTHING = torch.zeros(0)


def random_batch(model, lengths, seed=0) -> Batch:
    """Ids that are no padding, of the given lengths."""
    generator = torch.Generator().manual_seed(seed)
    longest, vocabulary = max(lengths), model.network.config.vocab_size
    mask = (torch.arange(longest)[None] < torch.tensor(lengths)[:, None]).long()
    ids = torch.randint(5, vocabulary, mask.shape, generator=generator)
    ids = torch.where(mask.bool(), ids, torch.tensor(model.network.config.pad_token_id))
    inputs = {"input_ids": ids, "attention_mask": mask}
    if model.anatomy.family.inputs.uses_token_types:
        inputs["token_type_ids"] = (torch.arange(longest)[None] * 2 > torch.tensor(lengths)[:, None]).long() * mask
    return Batch(inputs, NOTHING, NOTHING)


def by_transformers(model, batch):
    found = model.network(**batch.inputs)
    if model.anatomy.head.architecture == "QuestionAnswering":
        return torch.stack([found.start_logits, found.end_logits], dim=-1)
    return found.logits


def real(logits, batch):
    return logits[batch.mask.bool()] if logits.ndim == 3 else logits


@cache
def without_dropout(family, head):
    """A model in training mode, shared by the tests that change nothing of it."""
    model = tiny.model(family, head=head)
    model.network.train()
    for module in model.network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


LENGTHS = [[1], [7, 7, 7], [1, 2, 30, 3, 29, 30, 1], [5, 60, 1, 17, 16, 40, 3, 2, 59]]


@pytest.mark.parametrize(("case", "lengths"), covering([*itertools.product(tiny.FAMILIES, HEADS)], LENGTHS), ids=str)
def test_outputs_and_gradients_equal_transformers(case, lengths):
    """Without dropout; both in fp32. Every parameter is compared, also those before the first layer."""
    family, head = case
    model = without_dropout(family, head)
    longest = model.anatomy.max_tokens
    batch = random_batch(model, [min(length, longest) for length in lengths] + ([longest] if len(lengths) > 3 else []))
    found, wanted = real(forward(model.anatomy, batch).logits, batch), real(by_transformers(model, batch), batch)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    parameters = {name: value for name, value in model.network.named_parameters() if value.requires_grad}
    own, theirs = (
        torch.autograd.grad((logits * weights).sum(), list(parameters.values()), allow_unused=True)
        for logits in (found, wanted)
    )
    for name, one, other in zip(parameters, own, theirs, strict=True):
        assert (one is None) == (other is None), name
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_recorded_activations_equal_those_of_the_padded_pass(family):
    model = tiny.model(family)
    model.network.eval()
    batch, anatomy = random_batch(model, [4, 1, 30, 12, 13]), model.anatomy
    names = (HIDDEN, SCORES, ATTENTION, *STATES)
    padded: dict = {name: [] for name in names}
    with torch.no_grad():
        packed = forward(anatomy, batch, frozenset(names))
        hidden = anatomy.inputs.forward(batch.inputs)
        layout = Padded(batch.mask, hidden, causal=anatomy.is_causal)
        layout.types = read_types(anatomy, batch.inputs)
        logits = from_embedded(anatomy, hidden, layout, padded)
    torch.testing.assert_close(packed.logits, logits, atol=1e-5, rtol=1e-5)
    there = batch.mask.bool()
    for name in names:
        assert len(getattr(packed, name)) == len(padded[name]) == 3 + (name == HIDDEN)
        for one, other in zip(getattr(packed, name), padded[name], strict=True):
            pairs = (
                there[:, None, :, None] & there[:, None, None, :] if name in (SCORES, ATTENTION) else there[..., None]
            )
            torch.testing.assert_close(one * pairs, other * pairs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_cut_heads_removed_blocks_and_packed_weights(family):
    model = tiny.model(family)
    model.apply_edit(Heads(keep=[[1, 3], [0, 1, 2], [0]]))
    model.apply_edit(Blocks(attention=[1], ffn=[0, 2]))
    model.apply_edit(Int8())
    batch = random_batch(model, [3, 30, 11, 1])
    with torch.no_grad():
        found = forward(model.anatomy, batch).logits
        model.network.eval()
        wanted = run_padded(model.anatomy, batch.inputs)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_a_sequence_does_not_depend_on_the_others_in_its_batch():
    model = tiny.model("bert")
    model.network.eval()
    batch = random_batch(model, [9, 2, 31, 9, 30])
    with torch.no_grad():
        together = forward(model.anatomy, batch).logits
        for row in range(5):
            length = int(batch.mask[row].sum())
            alone = Batch(
                {name: value[row : row + 1, :length] for name, value in batch.inputs.items()}, NOTHING, NOTHING
            )
            torch.testing.assert_close(forward(model.anatomy, alone).logits[0], together[row], atol=1e-5, rtol=1e-5)


def test_padding_is_never_read():
    """NaN in the rows of padding reach neither outputs nor gradients."""
    model = tiny.model("bert")
    model.network.eval()
    batch = random_batch(model, [9, 2, 31])
    layout, anatomy = Packed(batch.mask), model.anatomy
    hidden = anatomy.inputs.forward(batch.inputs).detach()
    clean = hidden.clone().requires_grad_()
    poisoned = hidden.masked_fill(~batch.mask.bool()[..., None], float("nan")).requires_grad_()
    found = [from_embedded(anatomy, one, layout, {}) for one in (clean, poisoned)]
    assert torch.equal(*found)
    for logits in found:
        logits.sum().backward()
    assert torch.equal(clean.grad, poisoned.grad) and clean.grad[batch.mask.bool()].abs().sum() > 0


def test_packing_is_undone_by_unpacking():
    mask = (torch.arange(40)[None] < torch.tensor([3, 40, 1, 22, 3])[:, None]).long()
    layout, values = Packed(mask), torch.randn(5, 40, 2)
    rows = layout.pack(values)
    assert rows.shape == (69, 2)
    assert torch.equal(layout.unpack(rows), values * mask[..., None])
    assert torch.equal(layout.by_sequence(layout.first(rows))[:, 0], values[:, 0])


def test_dropout_acts_while_training_where_transformers_has_it():
    """The same rates by role: zeroed one at a time, the rest of the network is the same."""
    model = tiny.model("bert")
    batch = random_batch(model, [9, 2, 31])
    still = forward(copy.deepcopy(model).anatomy, batch) if not model.network.training else None
    model.network.train()
    torch.manual_seed(0)
    one = forward(model.anatomy, batch).logits
    torch.manual_seed(0)
    again = forward(model.anatomy, batch).logits
    torch.manual_seed(1)
    other = forward(model.anatomy, batch).logits
    assert torch.equal(one, again) and not torch.equal(one, other)
    assert still is None or not torch.equal(still.logits, one)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_200_training_steps_follow_the_loss_curve_of_transformers(family):
    """Without dropout, from the same weights, on the same batches of random lengths."""
    own, theirs = tiny.model(family), tiny.model(family)
    theirs.network.load_state_dict(own.network.state_dict())
    curves = [loss_curve(own, packed=True), loss_curve(theirs, packed=False)]
    assert sum(curves[0][:40]) > sum(curves[0][-40:])  # it learns
    torch.testing.assert_close(*map(torch.tensor, curves), atol=2e-3, rtol=1e-3)


def loss_curve(model, packed: bool, steps: int = 200, bf16: bool = False) -> list[float]:
    model.network.train()
    for module in model.network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    optimizer = torch.optim.SGD(model.network.parameters(), lr=0.02)
    draw, losses = torch.Generator().manual_seed(0), []
    for step in range(steps):
        lengths = torch.randint(1, 30, (4,), generator=draw).tolist()
        batch = random_batch(model, lengths, seed=step % 8)
        targets = batch.inputs["input_ids"][:, 0] % 2
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = forward(model.anatomy, batch).logits if packed else by_transformers(model, batch)
        loss = nn.functional.cross_entropy(logits.float(), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def test_training_in_bf16_follows_the_loss_curve_of_fp32():
    whole, half = tiny.model("bert"), tiny.model("bert")
    half.network.load_state_dict(whole.network.state_dict())
    expected = loss_curve(whole, packed=True)
    found = loss_curve(half, packed=True, bf16=True)
    means = [torch.tensor(one).view(5, 40).mean(dim=1) for one in (found, expected)]
    torch.testing.assert_close(*means, atol=0.02, rtol=0.02)


def test_autocast_keeps_hidden_states_in_one_type_between_layers():
    model, types = tiny.model("bert"), set()
    for layer in model.anatomy.layers:
        layer.part("attention_norm").register_forward_pre_hook(lambda _, given: types.add(given[0].dtype))
    with torch.autocast("cpu", torch.bfloat16):
        forward(model.anatomy, random_batch(model, [4, 9]))
    assert types == {torch.bfloat16}


@pytest.mark.parametrize("family", ["bert", "electra", "distilbert"])
@pytest.mark.parametrize("lengths", [[6, 6], [1, 2, 30, 3, 29, 30, 1], [5, 60, 1, 17, 16, 40, 3, 2, 59]], ids=str)
def test_each_token_attends_to_the_visible_ones_alone(family, lengths):
    """transformers takes the same mask as numbers that are added to the scores."""
    model = tiny.model(family, head="TokenClassification")
    batch = random_batch(model, lengths)
    longest, generator = max(lengths), torch.Generator().manual_seed(1)
    visible = torch.rand(len(lengths), longest, longest, generator=generator) < 0.4
    visible |= torch.eye(longest, dtype=torch.bool)
    allowed = visible & batch.mask.bool()[:, None]
    bias = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)[:, None]
    wanted = real(model.network(**{**batch.inputs, "attention_mask": bias}).logits, batch)
    found = real(forward(model.anatomy, replace(batch, visible=visible)).logits, batch)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    assert not torch.allclose(found, real(forward(model.anatomy, batch).logits, batch))
    shown = forward(model.anatomy, replace(batch, visible=visible), frozenset({ATTENTION}))
    torch.testing.assert_close(real(shown.logits, batch), found, atol=1e-5, rtol=1e-5)
    for weights in shown.attention:
        assert not weights[~(allowed & batch.mask[..., None].bool())[:, None].expand_as(weights)].any()
        torch.testing.assert_close(weights.sum(-1), batch.mask[:, None].expand(-1, 4, -1).float())


@torch.no_grad()
def test_tokens_may_have_other_positions():
    model = tiny.model("bert", head="TokenClassification")
    batch = random_batch(model, [9, 4, 9])
    positions = torch.tensor([[8, 3, 3, 60, 0, 1, 2, 7, 5]]).expand(3, -1)
    inputs = {**batch.inputs, "position_ids": positions}
    found = real(forward(model.anatomy, replace(batch, inputs=inputs)).logits, batch)
    torch.testing.assert_close(found, real(model.network(**inputs).logits, batch), atol=1e-5, rtol=1e-5)
