import pytest
import torch

import tiny
from niwaki.evaluate.looking.words import agreement, explained, gradients, occlusion


def test_gradients_sum_to_the_difference_of_the_logits(subject):
    one = subject("a good film was so very lovely")
    target = explained(one, -1)
    found, reason = gradients(one, target)
    whole, none = (
        float(target(run, None)) for run in (one.one.logits(), one.one.at(one.one.vectors(True)[None])[0].detach())
    )
    assert reason == "" and found["difference"] == pytest.approx(whole - none, abs=1e-4)
    assert sum(found["words"]) == pytest.approx(found["total"], abs=1e-6)
    assert found["total"] == pytest.approx(whole - none, abs=0.011 * max(abs(whole - none), 0.01))


@pytest.mark.parametrize("given", ["a good  film", ("a good", "film plot")])
def test_each_word_is_left_out_once(subject, given):
    """Compared with the shortened texts, written out."""
    one = subject(given)
    target = explained(one, -1)
    found, _ = occlusion(one, target)
    rest = (
        ["good film", "a film", "a good"]
        if isinstance(given, str)
        else [("good", given[1]), ("a", given[1]), (given[0], "plot"), (given[0], "film")]
    )
    whole, *others = (float(target(logits, None)) for logits in one.logits_of(one.encode([given, *rest])))
    assert found["words"] == pytest.approx([whole - other for other in others], abs=1e-5)


def test_the_tagged_word_itself_stays(subject):
    one = subject(["a", "good", "film"], head="TokenClassification", labels=["O", "B-X", "I-X"])
    target = explained(one, 1)
    found, _ = occlusion(one, target)
    rest = one.logits_of(one.encode([["good", "film"]]))[0]
    whole = float(target(one.logits[0], one.reading.note))
    assert found["words"][1] is None
    assert found["words"][0] == pytest.approx(whole - float(rest[1, target.plus] - rest[1, target.minus]), abs=1e-5)


def test_what_is_not_computed_has_a_reason(subject):
    span = subject(("a film", "the plot was good"), head="QuestionAnswering")
    target = explained(span, -1)
    assert gradients(span, target)[0] is not None and "elsewhere" in occlusion(span, target)[1]
    word = subject("film")
    assert "no word" in occlusion(word, explained(word, -1))[1]
    alone = type(word)(word.predictor, None, "no weights", word.given, word.kind)
    assert gradients(alone, explained(alone, -1)) == (None, "no weights")


def test_agreement_of_both():
    first, second = {"words": [1.0, 2.0, 3.0, 9.0]}, {"words": [1.0, 3.0, 2.0, None]}
    assert agreement(first, second) == pytest.approx(0.5) and agreement(None, second) is None


def test_networks_without_layers_are_explained_too(subject):
    one = subject(model=tiny.model("averaging"))
    found, _ = gradients(one, explained(one, -1))
    assert found["total"] == pytest.approx(found["difference"], abs=0.05 * abs(found["difference"]))
    assert torch.tensor(found["tokens"]).abs().sum() > 0
