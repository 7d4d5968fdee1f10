"""Distillation: the numbers by hand."""

import math

import pytest
import torch

import tiny
from niwaki.core.errors import Refused
from niwaki.methods._method import Context
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.student import Student, fresh, spread
from niwaki.methods.distill.tinybert import TinyBert, layer_map, masked_mse
from niwaki.models.forward import Batch, Outputs
from niwaki.models.soft import soft_cross_entropy


def soft(student, teacher, batch, temperature):
    """The task's way to compare logits; here a classification's."""
    return soft_cross_entropy(student, teacher, temperature)


def test_logits_mixes_by_weight():
    teacher = torch.tensor([[0.0, 2 * math.log(3)]])
    context = Context(0, lambda batch: Outputs(teacher), None, None, None, soft, None)
    loss = Logits(temperature=2.0, weight=0.25).loss(None, None, Outputs(torch.zeros(1, 2)), torch.tensor(8.0), context)
    kl = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert loss.item() == pytest.approx(0.25 * 4 * kl + 0.75 * 8)


@pytest.mark.parametrize("method", [Logits(temperature=3.0, weight=1.0), TinyBert(embedding=0, hidden=0, attention=0, temperature=3.0)])  # fmt: skip
def test_how_logits_are_compared_is_asked_of_the_task(method):
    """Student's, teacher's, the batch and the temperature, in this order."""
    batch = Batch({"attention_mask": torch.ones(1, 1)}, torch.tensor([0]), torch.tensor([0]))
    state, student, teacher = torch.zeros(1, 1, 4), torch.tensor([[1.0]]), torch.tensor([[2.0]])
    asked = []

    def compare(*given):
        asked.append(given)
        return torch.tensor(5.0)

    context = Context(0, lambda given: Outputs(teacher, (state, state), (state,)), None, None, None, compare, None)
    loss = method.loss(None, batch, Outputs(student, (state, state), (state,)), torch.tensor(0.0), context)
    assert asked == [(student, teacher, batch, 3.0)] and loss.item() == 5.0


def test_layer_map_by_hand():
    assert layer_map(3, 6, "uniform") == [1, 3, 5]
    assert layer_map(4, 12, "uniform") == [2, 5, 8, 11]
    assert layer_map(2, 3, "uniform") == [0, 2]
    assert layer_map(3, 6, "top") == [3, 4, 5]
    assert layer_map(6, 6, "uniform") == layer_map(6, 6, "top") == [0, 1, 2, 3, 4, 5]


def test_spread_by_hand():
    assert spread(6, 3) == [1, 3, 5] and spread(12, 4) == [2, 5, 8, 11]
    assert spread(5, 5) == [0, 1, 2, 3, 4] and spread(7, 1) == [6]
    for depth in range(1, 13):
        for count in range(1, depth + 1):
            kept = spread(depth, count)
            assert len(set(kept)) == count and kept[-1] == depth - 1 and min(kept) >= 0


def test_masked_mse_by_hand():
    """Two tokens of width 2, the second is padding: (1² + 3²) / 2; what lies in padding does not count."""
    a = torch.tensor([[[1.0, 3.0], [100.0, 100.0]]])
    real = torch.tensor([[1.0, 0.0]])
    assert masked_mse(a, torch.zeros_like(a), real[..., None]).item() == pytest.approx(5.0)
    pairs = real[:, None, :, None] * real[:, None, None, :]
    scores = torch.tensor([[[[2.0, 50.0], [50.0, 50.0]], [[4.0, 50.0], [50.0, 50.0]]]])  # 2 heads: (4 + 16) / 2
    assert masked_mse(scores, torch.zeros_like(scores), pairs).item() == pytest.approx(10.0)


def test_tinybert_total_by_hand():
    """One layer, one head, width 1, tokens (real, padding): embedding 1² + hidden 2² + attention 3² + soft targets 0 + truth ½·6."""
    batch = Batch({"attention_mask": torch.tensor([[1, 0]])}, torch.tensor([0]), torch.tensor([0]))

    def outputs(embedding, hidden, score):
        states = tuple(torch.tensor([[[value], [99.0 * value]]]) for value in (embedding, hidden))
        scores = torch.full((1, 1, 2, 2), 77.0 * (score + 1))
        scores[0, 0, 0, 0] = score
        return Outputs(torch.zeros(1, 2), states, (scores,))

    context = Context(0, lambda given: outputs(0.0, 0.0, 0.0), None, None, None, soft, None)
    student = outputs(1.0, 2.0, 3.0)
    total = TinyBert(truth=0.5).loss(None, batch, student, torch.tensor(6.0), context)
    assert total.item() == pytest.approx(1 + 4 + 9 + 0 + 3)
    weighted = TinyBert(embedding=0, hidden=2, attention=0, prediction=3).loss(None, batch, student, torch.tensor(6.0), context)  # fmt: skip
    assert weighted.item() == pytest.approx(8)


def context_with(teacher):
    return Context(0, None, teacher, None, None, None, None)


def test_tinybert_refuses_what_cannot_be_compared():
    with pytest.raises(Refused, match="more than the teacher's 2; make it shallower"):
        TinyBert().prepare(tiny.model(layers=3), context_with(tiny.model(layers=2)))
    with pytest.raises(Refused, match="set attention = 0"):
        TinyBert().prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))
    TinyBert(attention=0).prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))


def test_tinybert_makes_a_projection_only_where_widths_differ():
    method = TinyBert()
    method.prepare(tiny.model(width=32), context_with(tiny.model(width=32)))
    assert method.helpers is None
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    first = method.helpers.weight.clone()
    assert first.shape == (32, 16)
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    assert torch.equal(method.helpers.weight, first)


def calibrated(model):
    """A context that calibrates on one batch."""
    loss = torch.nn.functional.cross_entropy
    return Context(3, None, None, lambda model, count: [tiny.batch(model)], lambda model, batch: loss(model.network(**batch.inputs).logits, batch.targets), None, None)  # fmt: skip


def shape_of(model):
    layer = model.anatomy.layers[0]
    return len(model.anatomy.order), model.anatomy.width, layer.heads, layer.neurons


@pytest.mark.parametrize("start", ["slice", "fresh"])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_a_student_has_the_shape_that_was_asked_for(family, start):
    student = Student(layers=2, hidden=16, start=start).prepare(tiny.model(family, layers=4), calibrated(None))
    assert shape_of(student) == (2, 16, 2, 32)  # heads keep their width of 8, neurons their ratio
    assert torch.isfinite(tiny.logits(student, tiny.batch(student))).all()
    assert student.labels == tiny.LABELS


def test_a_student_keeps_what_is_not_asked_for():
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model))
    student = Student().prepare(model, calibrated(None))
    torch.testing.assert_close(tiny.logits(student, tiny.batch(student)), before)
    assert shape_of(Student(ffn=8).prepare(tiny.model("bert"), calibrated(None))) == (3, 32, 4, 8)


def test_a_student_that_does_not_fit_is_refused_with_all_faults():
    with pytest.raises(Refused) as caught:
        Student(layers=9, hidden=64, heads=9).prepare(tiny.model("bert"), calibrated(None))
    assert len(caught.value.faults) >= 3 and "more than the start model's 3" in caught.value.faults[0]
    with pytest.raises(Refused, match="hidden 30 is not a multiple of heads 4"):
        Student(hidden=30, heads=4, start="fresh").prepare(tiny.model("bert"), calibrated(None))


def test_fresh_follows_the_seed():
    shape = {"layers": 1, "hidden": 16, "heads": 2, "ffn": 8}
    one, two, other = (fresh(tiny.model("bert"), shape, seed).network.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["classifier.weight"], other["classifier.weight"])
