"""Students cut from the start model, or fresh."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill.student import Student, evenly_spaced, fresh, greedy_by_loss

from .outputs import uneven


def test_evenly_spaced_layers():
    assert evenly_spaced(6, 3) == [1, 3, 5] and evenly_spaced(12, 4) == [2, 5, 8, 11]
    assert evenly_spaced(5, 5) == [0, 1, 2, 3, 4] and evenly_spaced(7, 1) == [6]
    for depth in range(1, 13):
        for count in range(1, depth + 1):
            remaining = evenly_spaced(depth, count)
            assert len(set(remaining)) == count and remaining[-1] == depth - 1 and min(remaining) >= 0


def calibrated(model):
    """A context that calibrates on one batch."""
    loss = torch.nn.functional.cross_entropy
    return Context(
        3,
        None,
        None,
        lambda model, count: [tiny.batch(model)],
        lambda model, batch: loss(model.network(**batch.inputs).logits, batch.targets),
        None,
        None,
    )


def shape_of(model):
    layer = model.anatomy.layers[0]
    return len(model.anatomy.order), model.anatomy.hidden_size, layer.heads, layer.ffn_size


@pytest.mark.parametrize("start", ["slice", "fresh"])
@pytest.mark.parametrize("family", tiny.SIZED)
def test_the_student_has_the_configured_shape(family, start):
    student = Student(layers=2, hidden=16, start=start).prepare(tiny.model(family, layers=4), calibrated(None))
    assert shape_of(student) == (2, 16, 2, 32)  # heads keep their width of 8, neurons their ratio
    assert torch.isfinite(tiny.logits(student, tiny.batch(student))).all()
    assert student.labels == tiny.LABELS


def test_unset_sizes_follow_the_start_model():
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model))
    student = Student().prepare(model, calibrated(None))
    torch.testing.assert_close(tiny.logits(student, tiny.batch(student)), before)
    assert shape_of(Student(ffn=8).prepare(tiny.model("bert"), calibrated(None))) == (3, 32, 4, 8)


def test_a_student_larger_than_the_start_model_is_rejected_with_all_problems():
    with pytest.raises(InputError) as caught:
        Student(layers=9, hidden=64, heads=9).prepare(tiny.model("bert"), calibrated(None))
    assert len(caught.value.faults) >= 3 and "more than the start model's 3" in caught.value.faults[0]
    with pytest.raises(InputError, match="hidden 30 is not a multiple of heads 4"):
        Student(hidden=30, heads=4, start="fresh").prepare(tiny.model("bert"), calibrated(None))


def sizes_of(model):
    return [(layer.heads, layer.ffn_size) for layer in model.anatomy.layers]


def test_different_layers_are_cut_individually():
    student = Student(layers=2).prepare(uneven(1, 4, 2, neurons=[3, 64, 40]), calibrated(None))
    assert sizes_of(student) == [(1, 3), (2, 40)]  # the first and the last
    assert sizes_of(Student(heads=2, ffn=50).prepare(uneven(1, 4, neurons=[3, 64]), calibrated(None))) == [
        (1, 3),
        (2, 50),
    ]
    assert sizes_of(Student(hidden=16).prepare(uneven(2, 4, neurons=[10, 64]), calibrated(None))) == [(1, 5), (2, 32)]
    assert sizes_of(Student(layers=1, start="fresh").prepare(uneven(1, 4, neurons=[3, 64]), calibrated(None))) == [
        (4, 64)
    ]


@pytest.mark.parametrize(
    "method", [Student(layers=2), Student(layers=1, heads=3, ffn=40), Student(layers=2, hidden=16)]
)
def test_dry_run_and_result_have_the_same_shape(method):
    student, rehearsed = (
        method.prepare(uneven(1, 3, 4, 2), calibrated(None)),
        method.dry_prepare(uneven(1, 3, 4, 2)),
    )
    assert sizes_of(rehearsed) == sizes_of(student) and rehearsed.anatomy.hidden_size == student.anatomy.hidden_size


def test_a_fresh_student_has_no_exits():
    """Those of its parent were trained, and lie behind other layers."""
    parent = tiny.model("bert", niwaki_exits=[1, 2])
    assert not Student(layers=2, start="fresh").prepare(parent, calibrated(None)).network.config.niwaki_exits


def test_fresh_weights_depend_on_the_seed():
    shape = {"layers": 1, "hidden": 16, "heads": 2, "ffn": 8}
    one, two, other = (fresh(tiny.model("bert"), shape, seed).network.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["classifier.weight"], other["classifier.weight"])


def test_greedy_choice_of_layers():
    """Each layer is worth something; 1 and 3 do the same, so one of them can go for nothing, and then 2 is worth least."""

    def loss(keep):
        worth = {0: 5.0, 2: 1.0, 4: 3.0}
        return -sum(worth.get(number, 0.0) for number in keep) - (4.0 if {1, 3} & set(keep) else 0.0)

    assert greedy_by_loss(5, 4, loss) == [0, 1, 2, 4]
    assert greedy_by_loss(5, 3, loss) == [0, 1, 4]
    assert greedy_by_loss(5, 1, loss) == [0]


def test_layers_are_chosen_by_the_loss():
    """The first of three layers is student to do nothing, and goes; spreading would keep it and drop the second."""
    model = tiny.model("bert", layers=3)
    first, second, third = model.anatomy.layers
    with torch.no_grad():
        for part in ("out", "ffn_out"):
            for parameter in first.part(part).parameters():
                parameter.zero_()
        for norm in (model.anatomy.trunk.embeddings.LayerNorm, first.part("attention_norm"), first.part("ffn_norm")):
            norm.weight.fill_(1)  # what is normed stays as it is when it is normed again
            norm.bias.zero_()
    batch = tiny.batch(model)
    whole = tiny.logits(model, batch)

    def far(small, batch):
        return (tiny.logits(small, batch) - whole).square().mean()

    wanted = [layer.part("query").weight.clone() for layer in (second, third)]
    context = Context(3, None, None, lambda model, count: [batch], far, None, None)
    student = Student(layers=2, choose="importance", ffn=64).prepare(model, context)
    assert all(
        torch.equal(layer.part("query").weight, weight)
        for layer, weight in zip(student.anatomy.layers, wanted, strict=True)
    )
    assert tiny.logits(student, batch) == pytest.approx(whole, abs=1e-5)
    assert evenly_spaced(3, 2) == [0, 2]


@pytest.mark.parametrize("family", tiny.READERS)
def test_networks_without_attention_are_rejected(family):
    with pytest.raises(InputError, match="has no attention layers; leave 'student' out"):
        Student(layers=1).prepare(tiny.model(family), calibrated(None))
