"""Objectives that add noise: losses as transformers computes them, batches that follow from the step, tasks and models that they accept."""

import contextlib
import math
from dataclasses import replace

import pytest
import torch
import transformers

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.models.forward import NO_LABEL, Outputs, forward
from niwaki.models.model import load_folder
from niwaki.objectives._denoising import padded
from niwaki.objectives._factory import make_objective
from niwaki.tasks.classification import Classification
from niwaki.tasks.denoising import Denoising
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.settings import TrainSettings
from niwaki.train.validation import ModelValidation
from selection import rest_slow

from .noisy import CLASSES, TEXTS, collator, noisy, prepared
from .predicting import generator

OBJECTIVES = ("span_corruption", "text_denoising")
SPANS, TEXT = (
    ("spans", "tokens", "drop"),
    ("mask", "bert", "delete", "infill", "permute", "rotate", "shuffle", "combined"),
)
NOISES = [*(("span_corruption", noise) for noise in SPANS), *(("text_denoising", noise) for noise in TEXT)]
QUICK = [
    ("span_corruption", "spans", "t5"),
    ("span_corruption", "drop", "bart"),
    ("text_denoising", "combined", "bart"),
    ("text_denoising", "infill", "t5"),
]


def reference_loss(model, batch, family, folder):
    """transformers' own: it shifts the labels, and -100 stands on padding."""
    model.save(folder)
    network = getattr(transformers, CLASSES[family]).from_pretrained(folder).eval()
    labels = batch.targets.masked_fill(~batch.predicted, -100)
    return network(
        input_ids=batch.inputs["input_ids"], attention_mask=batch.inputs["attention_mask"], labels=labels
    ).loss


@pytest.mark.parametrize(
    "case",
    rest_slow([(*one, family) for one in NOISES for family in ("t5", "bart")], QUICK),
)
@torch.no_grad()
def test_losses_equal_those_of_transformers(case, tmp_path):
    name, noise, family = case
    model, objective, _, batch = noisy({"use": name, "noise": noise}, family)
    found = objective.loss(forward(model.anatomy, batch), batch)
    assert (~batch.predicted).any() or noise in ("mask", "bert", "shuffle")  # targets of several lengths
    torch.testing.assert_close(found, reference_loss(model, batch, family, tmp_path), atol=1e-5, rtol=0)


@torch.no_grad()
def test_a_published_checkpoint_goes_on_with_its_own_sentinels(tmp_path):
    words = [*stock.WORDS, "<extra_id_2>", "<extra_id_1>", "<extra_id_0>"]
    model = load_folder(stock.folder("t5", tmp_path / "stock", words=words))
    objective = make_objective({"use": "span_corruption", "rate": 0.4}, Denoising())
    objective.prepare(model)
    rows = collator(model, ["one two three four five ONE TWO", "one two three four"])
    batch = objective.batch(rows.batch([0, 1]), generator())
    found = objective.loss(forward(model.anatomy, batch), batch)
    torch.testing.assert_close(found, reference_loss(model, batch, "t5", tmp_path), atol=1e-5, rtol=0)
    first = model.tokenizer.convert_tokens_to_ids("<extra_id_0>")
    assert batch.targets[:, 0].tolist() == [first, first] and first in batch.inputs["input_ids"][0]
    assert model.network.config.niwaki_answer["start"] == model.tokenizer.pad_token_id


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("family", ["t5", "bart", "marian"])
def test_packed_decoders_have_the_gradients_of_padded_ones(name, family):
    model, objective, _, batch = noisy(name, family)
    every = replace(batch, predicted=None)
    for some in (batch, every):
        model.network.zero_grad()
        logits = forward(model.anatomy, some).logits
        logits = logits if some is batch else logits[batch.predicted]
        objective.loss(Outputs(logits), batch).backward()
        found = [value.grad.clone() for value in model.network.parameters() if value.grad is not None]
        if some is batch:
            packed = found
    assert len(packed) == len(found) > 20
    for one, other in zip(packed, found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_noise_follows_from_the_generator(name):
    _, objective, before, first = noisy(name, seed=5)
    again, other = (objective.batch(before, generator(seed)) for seed in (5, 6))
    assert all(torch.equal(first.inputs[key], again.inputs[key]) for key in first.inputs)
    assert torch.equal(first.targets, again.targets)
    assert first.inputs["input_ids"].tolist() != other.inputs["input_ids"].tolist()


def trained(folder, name, family, stops=()):
    """Weights after some steps, in a training that is interrupted and goes on from its checkpoint. Each step has other lengths."""
    calls = iter(range(1000))
    for _ in range(len(stops) + 1):
        model, objective = prepared(name, family)
        rows, context = collator(model, TEXTS[:20]), Context(0, None, None, None, None, None, None)
        settings = TrainSettings(epochs=2, batch=8, lr=1e-3, dropout=0.2)
        stop = lambda: next(calls) in stops  # noqa: E731
        job = Job("t5", model, [], context, objective, rows, collator(model), settings, "fp32", 7, folder, stop)
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(Interrupted):
            fit(job)
    return model.network.state_dict(), (folder / "train.jsonl").read_text()


@pytest.mark.parametrize(
    "name, family", [("span_corruption", "t5"), pytest.param("text_denoising", "bart", marks=pytest.mark.slow)]
)
def test_a_resumed_training_ends_with_the_same_bits(name, family, tmp_path, quick_disk):
    whole, log = trained(tmp_path / "whole", name, family)
    stopped, other = trained(tmp_path / "stopped", name, family, stops=(1, 3))
    assert log == other and len(whole) > 20
    assert all(torch.equal(value, stopped[key]) for key, value in whole.items())


@pytest.mark.parametrize("name", OBJECTIVES)
def test_padding_that_is_not_a_number_changes_no_loss(name):
    model, objective, _, batch = noisy(name, "bart")
    wanted = objective.loss(forward(model.anatomy, batch), batch)
    noise, size = torch.Generator().manual_seed(0), model.anatomy.tokens.num_embeddings
    inputs = dict(batch.inputs)
    for key, real in (("input_ids", batch.mask.bool()), ("decoder_input_ids", batch.predicted)):
        assert (~real).any()
        inputs[key] = torch.where(real, inputs[key], torch.randint(size, real.shape, generator=noise))
    assert torch.equal(objective.loss(forward(model.anatomy, replace(batch, inputs=inputs)), batch), wanted)


def test_the_decoder_reads_the_targets_behind_its_start_token():
    for family, start in (("t5", 0), ("bart", 2)):
        *_, batch = noisy("text_denoising", family)
        read = batch.inputs["decoder_input_ids"]
        assert read[:, 0].tolist() == [start] * len(read)
        assert torch.equal(read[:, 1:][batch.predicted[:, 1:]], batch.targets[:, :-1][batch.predicted[:, 1:]])


def test_loss_by_hand_with_label_smoothing():
    _, objective = prepared({"use": "span_corruption", "label_smoothing": 0.2})
    *_, batch = noisy()
    two = replace(batch, targets=torch.tensor([[1, 0, NO_LABEL]]), predicted=torch.tensor([[True, True, False]]))
    logits = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
    plain = (math.log(4 / 3) + math.log(2)) / 2
    smooth = ((math.log(4 / 3) + math.log(4)) / 2 + math.log(2)) / 2  # over both tokens alike
    assert objective.loss(Outputs(logits), two).item() == pytest.approx(0.8 * plain + 0.2 * smooth)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_score_is_one_over_perplexity_and_the_same_each_time(name):
    model, objective = prepared({"use": name, "label_smoothing": 0.3})
    validation = ModelValidation(model, collator(model), "fp32", 0)
    total = tokens = 0.0
    for outputs, batch in validation.passes(objective):
        scores = torch.log_softmax(outputs.logits, dim=-1)
        wanted = batch.targets[batch.predicted]
        total, tokens = total + scores[torch.arange(len(wanted)), wanted].sum().item(), tokens + len(wanted)
    assert objective.score(validation) == pytest.approx(math.exp(total / tokens), rel=1e-5)
    assert objective.score(validation) == objective.score(validation)


def test_sequences_are_padded_at_their_ends():
    import numpy as np

    values, real = padded([np.array([5, 6]), np.array([7])], 9)
    assert (values.tolist(), real.tolist()) == ([[5, 6], [7, 9]], [[True, True], [True, False]])


@pytest.mark.parametrize("name", OBJECTIVES)
def test_other_tasks_are_rejected(name, rows_csv):
    for task in (LanguageModeling(), Classification(path=str(rows_csv))):
        with pytest.raises(InputError, match=f"which task '{task.name}' does not have; take task 'denoising'"):
            make_objective(name, task).check()
    make_objective(name, Denoising()).check()


@pytest.mark.parametrize("name", ["masked_lm", "causal_lm", "masked_next_token"])
def test_objectives_of_encoders_are_rejected(name):
    with pytest.raises(InputError, match="for which task 'denoising' has no head; take task"):
        make_objective(name, Denoising()).check()


def test_supervised_training_is_rejected():
    with pytest.raises(InputError, match="'denoising' has no labels; set an objective that adds noise"):
        make_objective("supervised", Denoising()).check()


def test_a_vocabulary_without_sentinels_is_rejected():
    model = tiny.model("bert", layers=1)
    with pytest.raises(InputError, match="noise 'spans' needs sentinel tokens"):
        make_objective("span_corruption", Denoising()).prepare(model)
