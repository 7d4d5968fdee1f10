"""TinyBERT's losses worked out by hand, and what is rejected."""

import math

import pytest
import torch

import teaching
import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.models.forward import Batch, Outputs

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
