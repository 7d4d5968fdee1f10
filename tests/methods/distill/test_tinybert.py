"""TinyBERT's losses worked out by hand, and what is rejected."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import teaching
import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.fused.library import library
from niwaki.models.record import HIDDEN, SCORES
from niwaki.train.precision import autocast
from niwaki.train.teacher import Teacher

from .outputs import context_with, soft, teaching_with, two_tokens, uneven


def test_the_loss_is_the_weighted_sum():
    """One layer, one head, width 1, tokens (real, padding): embedding 1² + hidden 2² + attention 3² + soft targets 0 + truth ½·6."""
    batch = Batch({"attention_mask": torch.tensor([[1, 0]])}, torch.tensor([0]), torch.tensor([0]))

    def outputs(embedding, hidden, score):
        states = tuple(torch.tensor([[[value], [99.0 * value]]]) for value in (embedding, hidden))
        scores = torch.full((1, 1, 2, 2), 77.0 * (score + 1))
        scores[0, 0, 0, 0] = score
        return Outputs(torch.zeros(1, 2), states, (scores,))

    context = Context(0, lambda given: outputs(0.0, 0.0, 0.0), teaching.layers(1), None, None, soft, None)
    student = outputs(1.0, 2.0, 3.0)
    total = TinyBert(truth=0.5).loss(None, batch, student, torch.tensor(6.0), context)
    assert total.item() == pytest.approx(1 + 4 + 9 + 0 + 3)
    weighted = TinyBert(embedding=0, hidden=2, attention=0, prediction=3).loss(
        None, batch, student, torch.tensor(6.0), context
    )
    assert weighted.item() == pytest.approx(8)


@pytest.mark.parametrize("heads", [1, 2, 4])  # those of 8 numbers have no compiled kernel
@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_losses_without_padding_agree_with_sums_over_each_text(heads, precision):
    """Ragged texts, one of a single token. The teacher gives random numbers, the reference is computed in fp32 text by text."""
    draw = np.random.default_rng(heads)
    lengths, model = np.array([5, 1, *draw.integers(2, 20, 4)]), tiny.model(layers=2, heads=heads)
    known = [outputs_of(draw, int(tokens), heads) for tokens in lengths]
    rows = SimpleNamespace(sequences=lambda numbers: numbers, lengths=lengths)
    collator = SimpleNamespace(features=SimpleNamespace(rows=rows), device=torch.device("cpu"))
    context = Context(
        0,
        Teacher(collator, tuple(known[0]), False, lambda them: [known[one] for one in them]),
        model,
        None,
        None,
        soft,
        None,
    )
    mask = (torch.arange(int(lengths.max()))[None] < torch.from_numpy(lengths)[:, None]).long()
    ids = torch.from_numpy(draw.integers(5, 20, mask.shape)) * mask
    batch = Batch({"input_ids": ids, "attention_mask": mask}, torch.zeros(6), torch.arange(6))
    network, (method, found) = model.network.eval(), (TinyBert(prediction=0), [])
    for kind in (precision, "reference"):
        network.zero_grad()
        with autocast(kind if kind == precision else "fp32", torch.device("cpu")):
            outputs = forward(model.anatomy, batch, frozenset({HIDDEN, SCORES}))
            own = (
                text_by_text(outputs, known)
                if kind == "reference"
                else method.loss(model, batch, outputs, 0.0, context)
            )
        own.backward()
        compiled = kind == "bf16" and heads < 4 and library() is not None
        assert outputs.hidden.order is not None and (outputs.scores.order is not None) == compiled
        found.append(
            (own.detach(), torch.cat([one.grad.flatten() for one in network.parameters() if one.grad is not None]))
        )
    (loss, gradient), (expected, wanted) = found
    tolerance = 0.02 if precision == "bf16" else 1e-5
    assert loss.item() == pytest.approx(expected.item(), rel=tolerance)
    assert (gradient - wanted).norm() < tolerance * wanted.norm()


def outputs_of(draw, tokens, heads):
    """What a teacher of two layers says of one text."""
    shapes = {f"hidden.{depth}": (tokens, 32) for depth in range(3)}
    shapes |= {f"scores.{depth}": (heads, tokens, tokens) for depth in range(2)}
    return {"logits": np.zeros(2, np.float32)} | {
        name: draw.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()
    }


def text_by_text(outputs, known):
    """The mean squared errors over all layers in plain torch."""
    total = torch.zeros(())
    for name in [name for name in known[0] if name != "logits"]:
        what, depth = name.split(".")
        padded = getattr(outputs, what)[int(depth)]
        theirs = [torch.from_numpy(text[name]) for text in known]
        own = [one[tuple(slice(size) for size in text.shape)] for one, text in zip(padded, theirs, strict=True)]
        errors = torch.cat([(one - other).flatten() for one, other in zip(own, theirs, strict=True)])
        total = total + errors.square().mean()
    return total


def test_incomparable_teachers_are_rejected():
    with pytest.raises(InputError, match="more than the teacher's 2; make it shallower"):
        TinyBert().prepare(tiny.model(layers=3), context_with(tiny.model(layers=2)))
    with pytest.raises(InputError, match="set attention = 0"):
        TinyBert().prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))
    TinyBert(attention=0).prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))


def test_a_projection_is_only_created_for_different_hidden_sizes():
    method = TinyBert()
    method.prepare(tiny.model(width=32), context_with(tiny.model(width=32)))
    assert method.helpers is None
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    first = method.helpers["projection"].weight.clone()
    assert first.shape == (32, 16)
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    assert torch.equal(method.helpers["projection"].weight, first)


def test_heads_are_compared_layer_by_layer():
    """Layers of one head would else be spread over several in silence."""
    TinyBert().check_teacher(uneven(4, 2), uneven(1, 4, 3, 2))  # followed are the second and the last
    TinyBert(mapping="top").check_teacher(uneven(3, 2), uneven(1, 4, 3, 2))
    for student, teacher, mapping in [
        (uneven(4, 1, 4), uneven(1, 4, 4), "uniform"),
        (uneven(2, 4, 4), uneven(4, 2, 4), "uniform"),
        (uneven(4, 2), uneven(1, 4, 3, 2), "top"),
        (uneven(2, 2), uneven(2, 2, 1), "learned"),
    ]:
        with pytest.raises(InputError, match=r"layer . of the student has . heads, and layer . of the teacher"):
            TinyBert(mapping=mapping).check_teacher(student, teacher)
        TinyBert(mapping=mapping, attention=0).check_teacher(student, teacher)


def test_a_learned_mapping_mixes_teacher_layers():
    """One student layer at 0, teacher layers at 1 and 3, weights ¼ and ¾: the target is 2.5, its square 6.25."""
    method = TinyBert(embedding=0, attention=0, prediction=0, mapping="learned")
    method.prepare(tiny.model(layers=1), context_with(tiny.model(layers=2)))
    mix = method.helpers["mix"]
    assert torch.softmax(mix.logits[0], 0)[1] > 0.8  # at first the uniform choice, the last layer
    with torch.no_grad():
        mix.logits[0] = torch.tensor([0.0, math.log(3.0)])
    none = torch.zeros(1, 2)
    states = {1: torch.full((1, 2, 1), 1.0), 2: torch.full((1, 2, 1), 3.0)}
    own = Outputs(none, (none, torch.zeros(1, 2, 1)), (torch.zeros(1, 1, 2, 2),))
    total = method.loss(None, two_tokens(), own, torch.tensor(9.0), teaching_with(Outputs(none, states), 2))
    assert total.item() == pytest.approx(6.25)
    total.backward()
    assert mix.logits.grad.abs().sum() > 0
    assert TinyBert(mapping="learned").teacher_activations(tiny.model(layers=1), tiny.model(layers=2)) == {
        "hidden.0",
        "hidden.1",
        "hidden.2",
        "scores.0",
        "scores.1",
    }


def test_only_weighted_activations_are_requested():
    small, whole = tiny.model(layers=1), tiny.model(layers=3)
    assert TinyBert(attention=0).teacher_activations(small, whole) == {"hidden.0", "hidden.3"}
    assert TinyBert(embedding=0, hidden=0).teacher_activations(small, whole) == {"scores.2"}
    assert TinyBert(embedding=0, hidden=0, attention=0).teacher_activations(small, whole) == set()
