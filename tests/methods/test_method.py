"""The base class and the protocols of methods."""

import pytest

import tiny
from niwaki.methods._method import (
    Bakes,
    ContributesLoss,
    FollowsTeacher,
    Method,
    Requirements,
    Reshapes,
    Schedules,
    answers_trained,
    followed_activations,
    methods_with,
)
from niwaki.methods.distill.attention_relations import AttentionRelations
from niwaki.methods.distill.cosine import Cosine
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.pkd import Pkd
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.methods.prune.heads import Heads
from niwaki.methods.prune.magnitude import Magnitude
from niwaki.methods.quantize.int8 import Int8
from niwaki.train.loop import min_progress_of


def test_methods_with_a_protocol_keep_their_order():
    methods = [Int8(), Magnitude(), Logits(), Heads()]
    assert methods_with(methods, Reshapes) == [methods[1], methods[3]]
    assert methods_with(methods, Bakes) == [methods[0], methods[1]]
    assert methods_with(methods, Schedules) == [methods[1]]
    assert methods_with(methods, ContributesLoss) == methods_with(methods, FollowsTeacher) == [methods[2]]


def test_a_member_without_its_protocol_is_rejected():
    with pytest.raises(TypeError, match=r"Squeeze defines 'loss' .*; write class Squeeze\(Method, ContributesLoss\)"):

        class Squeeze(Method):
            def loss(self, model, batch, outputs, loss, context):
                return loss

    with pytest.raises(TypeError, match=r"write class Slow\(Method, Schedules\)"):

        class Slow(Method, Reshapes):
            @property
            def min_progress(self):
                return 0.5


def test_a_setting_may_have_the_name_of_a_member():
    class Small(Method):
        penalty: float = 0.5

    assert Small().penalty == 0.5


def test_a_protocol_without_its_method_cannot_be_created():
    class Nothing(Method, Reshapes): ...

    with pytest.raises(TypeError, match=r"abstract method .?prepare"):
        Nothing()


def test_finish_is_its_own_dry_run():
    model = tiny.model("bert")
    assert [edit.label() for edit in Int8().dry_finish(model).blueprint.edits] == ["int8"]


def test_only_a_required_teacher_and_activations_compare_layers():
    hidden = frozenset({"hidden"})
    assert Requirements(teacher="required", activations=hidden).compares_layers
    assert not Requirements(teacher="optional", activations=hidden).compares_layers
    assert not Requirements(teacher="required").compares_layers


def test_the_last_loss_that_decides_it_says_whether_answers_are_trained():
    silent, soft = AttentionRelations(truth=0.0), Logits()
    assert answers_trained([], labelled=True) and not answers_trained([], labelled=False)
    assert not answers_trained([soft, silent], labelled=True)
    assert answers_trained([silent, soft], labelled=False)
    assert answers_trained([soft, Cosine(), Heads()], labelled=False)


def test_activations_of_all_methods_are_collected():
    teacher = tiny.model("bert", layers=4)
    found = followed_activations([Heads(), Cosine(), AttentionRelations(layer=2)], tiny.model("bert"), teacher)
    assert found == {"hidden.4", "queries.1", "keys.1", "values.1"}


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
def test_scores_count_if_answers_are_trained(methods, min_progress):
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
