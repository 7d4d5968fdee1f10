"""Objectives that predict tokens: the loss by hand, padding, scores, and the tasks that they accept."""

import math
from dataclasses import replace

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import Outputs, forward
from niwaki.objectives._factory import make_objective
from niwaki.tasks.classification import Classification
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.train.collator import Collator
from niwaki.train.validation import ModelValidation

from .predicting import corrupted, prepared

OBJECTIVES = (
    *("masked_lm", "causal_lm", "masked_next_token", "prefix_lm", "permutation_lm"),
    *("span_boundary", "next_sentence", "sentence_order"),
)


def test_loss_is_the_mean_over_predicted_tokens_alone():
    _, objective, before, after = corrupted("masked_lm")
    predicted = torch.zeros_like(before.mask).bool()
    predicted[0, 1] = predicted[1, 2] = True
    targets = torch.full_like(before.inputs["input_ids"], 7)
    logits = torch.zeros(2, 10)
    logits[0, 7] = math.log(3)  # 3 of 12, and 1 of 10
    found = objective.loss(Outputs(logits), replace(after, predicted=predicted, targets=targets))
    assert found.item() == pytest.approx((math.log(4) + math.log(10)) / 2)


@pytest.mark.parametrize(
    "name", [name for name in OBJECTIVES if name != "span_boundary"]
)  # it reads the whole table again
def test_padding_that_is_not_a_number_changes_no_loss(name):
    model, objective, _, after = corrupted(name, tie_word_embeddings=False)
    wanted = objective.loss(forward(model.anatomy, after, objective.activations), after)
    model.anatomy.tokens.weight.data[model.tokenizer.pad_token_id] = float("nan")
    assert (~after.mask.bool()).any()
    assert torch.equal(objective.loss(forward(model.anatomy, after, objective.activations), after), wanted)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_score_is_one_over_perplexity_and_the_same_each_time(name, tmp_path):
    model, _ = prepared(name)
    (tmp_path / "a.txt").write_text("\n\n".join(text for text, _ in tiny.sentences(120)))
    task = LanguageModeling(path=str(tmp_path / "a.txt"), max_tokens=16, cache=str(tmp_path / "cache"))
    objective = make_objective(name, task)
    objective.prepare(model)
    features = objective.features(task.splits()["train"], model.tokenizer.backend_tokenizer)
    validation = ModelValidation(model, Collator(features, model, torch.device("cpu")), "fp32", 0)
    total = tokens = 0.0
    for outputs, batch in validation.passes(objective):
        count = int(batch.predicted.sum())
        total, tokens = total + objective.token_loss(outputs, batch).item() * count, tokens + count
    assert objective.score(validation) == pytest.approx(math.exp(-total / tokens), rel=1e-6)
    assert objective.score(validation) == objective.score(validation)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_task_with_labels_is_rejected(name, rows_csv):
    with pytest.raises(InputError, match="which task 'classification' does not have; take task 'language_modeling'"):
        make_objective(name, Classification(path=str(rows_csv))).check()


def test_supervised_training_without_labels_is_rejected():
    with pytest.raises(InputError, match="'language_modeling' has no labels; set an objective that predicts tokens"):
        make_objective("supervised", LanguageModeling()).check()
