"""Distillation: the numbers by hand."""

import math

import pytest
import torch

import teaching
import tiny
import writers
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.distill._layers import layer_map, masked_mse
from niwaki.methods.distill.attention_relations import AttentionRelations, divergence
from niwaki.methods.distill.cosine import Cosine
from niwaki.methods.distill.decoder_kd import DecoderKd
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.pkd import Pkd
from niwaki.methods.distill.student import Student, evenly_spaced, fresh, greedy_by_loss
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.methods.prune.magnitude import Magnitude
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.record import DECODER_HIDDEN
from niwaki.train.loop import min_progress_of


def soft(student, teacher, batch, temperature):
    """The task's way to compare logits; here a classification's."""
    return soft_cross_entropy(student, teacher, temperature)


def test_logits_mixes_by_weight():
    teacher = torch.tensor([[0.0, 2 * math.log(3)]])
    context = Context(0, lambda batch: Outputs(teacher), None, None, None, soft, None)
    loss = Logits(temperature=2.0, weight=0.25).loss(None, None, Outputs(torch.zeros(1, 2)), torch.tensor(8.0), context)
    kl = 0.25 * math.log(0.5) + 0.75 * math.log(1.5)
    assert loss.item() == pytest.approx(0.25 * 4 * kl + 0.75 * 8)


@pytest.mark.parametrize(
    "method", [Logits(temperature=3.0, weight=1.0), TinyBert(embedding=0, hidden=0, attention=0, temperature=3.0)]
)
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
    assert evenly_spaced(6, 3) == [1, 3, 5] and evenly_spaced(12, 4) == [2, 5, 8, 11]
    assert evenly_spaced(5, 5) == [0, 1, 2, 3, 4] and evenly_spaced(7, 1) == [6]
    for depth in range(1, 13):
        for count in range(1, depth + 1):
            kept = evenly_spaced(depth, count)
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

    context = Context(0, lambda given: outputs(0.0, 0.0, 0.0), teaching.layers(1), None, None, soft, None)
    student = outputs(1.0, 2.0, 3.0)
    total = TinyBert(truth=0.5).loss(None, batch, student, torch.tensor(6.0), context)
    assert total.item() == pytest.approx(1 + 4 + 9 + 0 + 3)
    weighted = TinyBert(embedding=0, hidden=2, attention=0, prediction=3).loss(
        None, batch, student, torch.tensor(6.0), context
    )
    assert weighted.item() == pytest.approx(8)


def states(*values):
    """Of a decoder of width 1 on one text of two pieces, the second padding: the embedding's output, then those of its layers."""
    return Outputs(
        torch.zeros(1, 2, 5), decoder_hidden=tuple(torch.tensor([[[value], [99.0 * value]]]) for value in values)
    )


def writer(layers):
    return writers.writer(decoder_layers=layers)


def test_decoded_total_by_hand():
    """A student of two decoder layers follows the second and the fourth of its teacher: ((1 - 3)² + (2 - 7)²) / 2, truth 10."""
    context = Context(0, lambda given: states(50.0, 60.0, 3.0, 70.0, 7.0), writer(4), None, None, None, None)
    batch = Batch({"attention_mask": torch.ones(1, 3)}, torch.tensor([[4, -100]]), torch.tensor([0]))
    student = states(40.0, 1.0, 2.0)
    assert DecoderKd(weight=0.5).loss(writer(2), batch, student, torch.tensor(10.0), context).item() == pytest.approx(
        10 + 0.5 * (4 + 25) / 2
    )
    assert DecoderKd(mapping="top").loss(writer(2), batch, student, torch.tensor(0.0), context).item() == pytest.approx(
        (69**2 + 25) / 2
    )


@torch.no_grad()
def test_what_a_decoder_makes_layer_by_layer_ends_in_its_logits():
    model = writer(3)
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch, frozenset({DECODER_HIDDEN}))
    assert len(found.decoder_hidden) == 4 and torch.equal(
        model.anatomy.decoder.logits(found.decoder_hidden[-1]), found.logits
    )
    assert torch.equal(found.decoder_hidden[0], model.network.decoder.embed(batch.inputs["decoder_input_ids"]))
    assert not forward(model.anatomy, batch).decoder_hidden


def test_decoded_refuses_what_cannot_be_compared():
    with pytest.raises(InputError, match="decoder_kd: the student has no decoder; use 'tinybert'"):
        DecoderKd().prepare(tiny.model(), context_with(writer(2)))
    with pytest.raises(InputError, match="decoder_kd: the teacher has no decoder"):
        DecoderKd().prepare(writer(2), context_with(tiny.model()))
    with pytest.raises(InputError, match="decoder has 3 layers, more than the teacher's 2"):
        DecoderKd().prepare(writer(3), context_with(writer(2)))


def context_with(teacher):
    return Context(0, None, teacher, None, None, None, None)


def test_tinybert_refuses_what_cannot_be_compared():
    with pytest.raises(InputError, match="more than the teacher's 2; make it shallower"):
        TinyBert().prepare(tiny.model(layers=3), context_with(tiny.model(layers=2)))
    with pytest.raises(InputError, match="set attention = 0"):
        TinyBert().prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))
    TinyBert(attention=0).prepare(tiny.model(heads=2), context_with(tiny.model(heads=4)))


def test_tinybert_makes_a_projection_only_where_widths_differ():
    method = TinyBert()
    method.prepare(tiny.model(width=32), context_with(tiny.model(width=32)))
    assert method.helpers is None
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    first = method.helpers["projection"].weight.clone()
    assert first.shape == (32, 16)
    method.prepare(tiny.model(width=16), context_with(tiny.model(width=32)))
    assert torch.equal(method.helpers["projection"].weight, first)


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
    with pytest.raises(InputError) as caught:
        Student(layers=9, hidden=64, heads=9).prepare(tiny.model("bert"), calibrated(None))
    assert len(caught.value.faults) >= 3 and "more than the start model's 3" in caught.value.faults[0]
    with pytest.raises(InputError, match="hidden 30 is not a multiple of heads 4"):
        Student(hidden=30, heads=4, start="fresh").prepare(tiny.model("bert"), calibrated(None))


def uneven(*heads, neurons=None):
    """A model whose layers have so many heads, and neurons."""
    model = tiny.model("bert", layers=len(heads))
    model.apply_edit(Heads(keep=[list(range(count)) for count in heads]))
    if neurons:
        model.apply_edit(Ffn(keep=[list(range(count)) for count in neurons]))
    return model


def sizes_of(model):
    return [(layer.heads, layer.ffn_size) for layer in model.anatomy.layers]


def test_a_student_of_layers_that_differ_keeps_each_as_it_is():
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
def test_a_student_is_rehearsed_in_the_shape_it_gets(method):
    made, rehearsed = (
        method.prepare(uneven(1, 3, 4, 2), calibrated(None)),
        method.dry_prepare(uneven(1, 3, 4, 2)),
    )
    assert sizes_of(rehearsed) == sizes_of(made) and rehearsed.anatomy.hidden_size == made.anatomy.hidden_size


def test_a_fresh_student_has_no_exits():
    """Those of its parent were trained, and lie behind other layers."""
    parent = tiny.model("bert", niwaki_exits=[1, 2])
    assert not Student(layers=2, start="fresh").prepare(parent, calibrated(None)).network.config.niwaki_exits


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


def test_relations_need_a_teacher_with_layers():
    with pytest.raises(InputError, match="attention_relations"):
        AttentionRelations().check_teacher(tiny.model("bert"), tiny.model("bilstm"))


def test_fresh_follows_the_seed():
    shape = {"layers": 1, "hidden": 16, "heads": 2, "ffn": 8}
    one, two, other = (fresh(tiny.model("bert"), shape, seed).network.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["classifier.weight"], other["classifier.weight"])


# ── layers, each loss by hand on two tokens ─────────────────────────────────────────────────────────────────────────────


def two_tokens(real=(1, 1)):
    return Batch({"attention_mask": torch.tensor([list(real)])}, torch.tensor([0]), torch.tensor([0]))


def teaching_with(outputs, depth):
    return Context(0, lambda given: outputs, teaching.layers(depth), None, None, soft, None)


def test_cosine_by_hand():
    """(1, 0) and (1, 0) point alike: 0; (1, 0) and (0, 2) at a right angle: 1; (3, 4) and (4, 3): 1 − 24/25."""
    none = torch.zeros(1, 2)
    own = Outputs(none, (torch.zeros(1, 2, 2), torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])))
    theirs = Outputs(none, {1: torch.tensor([[[5.0, 0.0], [0.0, 2.0]]])})
    method = Cosine(weight=3.0)
    assert method.loss(None, two_tokens(), own, torch.tensor(2.0), teaching_with(theirs, 1)).item() == pytest.approx(
        2 + 3 * 0.5
    )
    assert method.loss(
        None, two_tokens((1, 0)), own, torch.tensor(2.0), teaching_with(theirs, 1)
    ).item() == pytest.approx(2)
    own = Outputs(none, (none, torch.tensor([[[3.0, 4.0], [0.0, 0.0]]])))
    theirs = Outputs(none, {1: torch.tensor([[[4.0, 3.0], [9.0, 9.0]]])})
    assert Cosine().loss(
        None, two_tokens((1, 0)), own, torch.tensor(0.0), teaching_with(theirs, 1)
    ).item() == pytest.approx(1 / 25)


def test_patient_by_hand():
    """The first token alone: (3, 4) at length 1 is (.6, .8), (0, 7) is (0, 1): .36 + .04. The last layer does not count."""
    none = torch.zeros(1, 2)
    inner, last = torch.tensor([[[3.0, 4.0], [8.0, 1.0]]]), torch.tensor([[[99.0, 1.0], [1.0, 99.0]]])
    own = Outputs(none, (none, inner, last))
    theirs = Outputs(none, {2: torch.tensor([[[0.0, 7.0], [1.0, 1.0]]])})
    loss = Pkd(weight=10.0).loss(None, two_tokens(), own, torch.tensor(1.0), teaching_with(theirs, 4))
    assert loss.item() == pytest.approx(1 + 10 * 0.4)
    assert Pkd().teacher_activations(tiny.model(layers=2), tiny.model(layers=4)) == {"hidden.2"}
    assert Pkd(mapping="last").teacher_activations(tiny.model(layers=3), tiny.model(layers=6)) == {
        "hidden.4",
        "hidden.5",
    }
    with pytest.raises(InputError, match="the student has only one layer"):
        Pkd().prepare(tiny.model(layers=1), context_with(tiny.model(layers=4)))


def test_relations_by_hand():
    """One head of width 1, tokens (1, 2) against a teacher of width 4 that says 0: its relations are even, 1/2 and 1/2.

    The student's: products (1, 2) and (2, 4), softmax over two: σ = 1/(1+e^d) with d = 1 and 2."""

    def kl(difference):
        small = 1 / (1 + math.exp(difference))
        return 0.5 * math.log(0.5 / small) + 0.5 * math.log(0.5 / (1 - small))

    own = torch.tensor([[[1.0], [2.0]]])
    expected = (kl(1.0) + kl(2.0)) / 2
    assert divergence(own, torch.zeros(1, 2, 4), torch.tensor([[1, 1]]), 1).item() == pytest.approx(expected)
    padded = torch.tensor([[[1.0], [2.0], [50.0]]])
    assert divergence(padded, torch.zeros(1, 3, 4), torch.tensor([[1, 1, 0]]), 1).item() == pytest.approx(expected)
    states = dict.fromkeys(("queries", "keys", "values"), (own,))
    theirs = {what: {5: torch.zeros(1, 2, 4)} for what in states}
    none = torch.zeros(1, 2)
    context = Context(0, lambda given: Outputs(none, **theirs), teaching.layers(6), None, None, soft, None)
    method = AttentionRelations(weight=2.0, truth=0.5, heads=1)
    total = method.loss(None, two_tokens(), Outputs(none, **states), torch.tensor(4.0), context)
    assert total.item() == pytest.approx(2 + 2 * 3 * expected)


def test_relations_scale_by_the_root_of_the_width_of_a_head():
    """Tokens (2, 0) and (0, 2): products 4 and 0, over √2."""
    own = torch.tensor([[[2.0, 0.0], [0.0, 2.0]]])
    small = 1 / (1 + math.exp(4 / math.sqrt(2)))
    expected = 0.5 * math.log(0.5 / small) + 0.5 * math.log(0.5 / (1 - small))
    assert divergence(own, torch.zeros(1, 2, 2), torch.tensor([[1, 1]]), 1).item() == pytest.approx(expected)


def test_relations_take_any_width_and_head_count_that_the_parts_divide():
    AttentionRelations().prepare(tiny.model(width=16, heads=2), context_with(tiny.model(width=32, heads=4)))
    assert AttentionRelations().teacher_activations(tiny.model(), tiny.model(layers=3)) == {
        "queries.2",
        "keys.2",
        "values.2",
    }
    assert AttentionRelations(layer=2).teacher_activations(tiny.model(), tiny.model(layers=3)) == {
        "queries.1",
        "keys.1",
        "values.1",
    }
    with pytest.raises(InputError, match="5 heads do not divide the 16 numbers of the student's"):
        AttentionRelations(heads=5).prepare(tiny.model(width=16, heads=2), context_with(tiny.model()))
    with pytest.raises(InputError, match="layer 9 is more than the teacher's 3"):
        AttentionRelations(layer=9).prepare(tiny.model(), context_with(tiny.model()))


def test_a_learned_mapping_by_hand():
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


def test_only_what_a_weight_asks_for_is_asked_for():
    small, whole = tiny.model(layers=1), tiny.model(layers=3)
    assert TinyBert(attention=0).teacher_activations(small, whole) == {"hidden.0", "hidden.3"}
    assert TinyBert(embedding=0, hidden=0).teacher_activations(small, whole) == {"scores.2"}
    assert TinyBert(embedding=0, hidden=0, attention=0).teacher_activations(small, whole) == set()


@pytest.mark.parametrize(
    ("methods", "min_progress"),
    [
        ([], 0),
        ([TinyBert()], 0),
        ([TinyBert(prediction=0)], 1),
        ([TinyBert(prediction=0, truth=1)], 0),
        ([AttentionRelations(truth=0)], 1),
        ([AttentionRelations()], 0),
        ([TinyBert(prediction=0), AttentionRelations()], 1),
        ([TinyBert(prediction=0), Logits()], 0),
        ([AttentionRelations(truth=0), Logits()], 0),
        ([Logits(), TinyBert(prediction=0)], 1),
        ([TinyBert(prediction=0), Logits(weight=0)], 1),
        ([Logits(), Magnitude(end=0.5)], 0.5),
    ],
)
def test_scores_count_where_answers_are_trained(methods, min_progress):
    assert min_progress_of(methods) == min_progress


@pytest.mark.parametrize(
    ("methods", "min_progress"),
    [
        ([AttentionRelations()], 1),
        ([Cosine()], 1),
        ([Pkd()], 1),
        ([TinyBert(prediction=0, truth=1)], 1),
        ([AttentionRelations(), Logits()], 0),
        ([TinyBert()], 0),
    ],
)
def test_without_labels_only_a_teacher_trains_answers(methods, min_progress):
    assert min_progress_of(methods, labelled=False) == min_progress


def test_the_layers_that_are_missed_most_are_kept_by_hand():
    """Each layer is worth something; 1 and 3 do the same, so one of them can go for nothing, and then 2 is worth least."""

    def loss(keep):
        worth = {0: 5.0, 2: 1.0, 4: 3.0}
        return -sum(worth.get(number, 0.0) for number in keep) - (4.0 if {1, 3} & set(keep) else 0.0)

    assert greedy_by_loss(5, 4, loss) == [0, 1, 2, 4]
    assert greedy_by_loss(5, 3, loss) == [0, 1, 4]
    assert greedy_by_loss(5, 1, loss) == [0]


def test_layers_are_chosen_by_what_the_loss_misses():
    """The first of three layers is made to do nothing, and goes; spreading would keep it and drop the second."""
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
def test_a_student_is_not_cut_out_of_a_network_without_layers(family):
    with pytest.raises(InputError, match="has no attention layers; leave 'student' out"):
        Student(layers=1).prepare(tiny.model(family), calibrated(None))
