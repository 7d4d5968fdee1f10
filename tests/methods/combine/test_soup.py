"""Soups: the mean of weights, the greedy choice, and which models can be averaged."""

from dataclasses import replace

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.combine.soup import Soup, greedy, mean
from niwaki.methods.quantize.rtn import Rtn
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse


def numbers(*values: float) -> list[dict[str, torch.Tensor]]:
    return [{"a": torch.tensor([value])} for value in values]


def test_the_mean_of_weights_by_hand():
    each = [{"a": torch.tensor([1.0, 2.0]), "places": torch.tensor([3])} for _ in range(3)]
    each[1]["a"] = torch.tensor([4.0, 8.0])
    found = mean(each)
    assert torch.equal(found["a"], torch.tensor([2.0, 4.0])) and torch.equal(found["places"], torch.tensor([3]))


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        ([6.0, 1.0, 3.0], [2, 0]),  # 3 is best; with 6 the mean is 4.5, which is better; with 1 as well it is 3.33
        ([0.0, 5.0, 9.0], [1]),  # means 7 and 2.5 are further from 4
        ([4.0, 4.0, 4.0], [0, 1, 2]),
    ],
)
def test_the_greedy_choice_by_hand(values, chosen):
    """The score is the closeness to 4 of the mean."""

    def score(weights):
        return -abs(float(weights["a"]) - 4)

    assert greedy(numbers(*values), score) == chosen


def test_a_uniform_soup_is_the_mean_of_all_models():
    models = {name: tiny.model("bert", seed=seed) for seed, name in enumerate(["a", "b", "c"])}
    expected = sum(model.network.classifier.weight.detach().clone() for model in models.values()) / 3
    context = replace(CONTEXT, stage_model=models.__getitem__)
    found = Soup(other_stages=["b", "c"], choose="uniform").prepare(models["a"], context)
    assert torch.allclose(found.network.classifier.weight, expected)


def test_a_greedy_soup_never_scores_below_its_best_model():
    models = {name: tiny.model("bert", seed=seed) for seed, name in enumerate(["a", "b", "c"])}

    def score(model):
        return float(tiny.logits(model, tiny.batch(model))[:, 0].mean())

    best = max(map(score, models.values()))
    context = replace(CONTEXT, stage_model=models.__getitem__, score=score)
    assert score(Soup(other_stages=["b", "c"]).prepare(models["a"], context)) >= best


@pytest.mark.parametrize(
    ("stages", "other", "message"),
    [
        ([], lambda: None, "name the stages"),
        (["b"], lambda: tiny.model("bert", layers=2), "stage 'b' has another shape"),
        (["b"], lambda: Rtn().finish(tiny.model("bert")), "packed weights cannot be averaged"),
    ],
)
def test_models_that_cannot_be_averaged_are_rejected(stages, other, message):
    with pytest.raises(InputError, match=message):
        Soup(other_stages=stages).check_stages(tiny.model("bert"), lambda name: other())


def test_an_unknown_stage_is_rejected_by_the_recipe(bert_folder, rows_csv):
    stages = [{"name": "one"}, {"name": "made", "methods": [{"use": "soup", "other_stages": ["two"]}]}]
    with pytest.raises(InputError, match="'two' is not an earlier stage"):
        make_plan(
            parse(
                {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "stages": stages}
            ),
            "soup",
        )
