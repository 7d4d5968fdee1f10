"""The loss of senses over candidates: its value by hand, which tokens it sees, and the weight of rare senses."""

import math

import numpy as np
import pytest
import torch

from niwaki.answers._sense_inventory import LEXFILES
from niwaki.models.forward import NO_LABEL, Batch
from niwaki.tasks._sense_loss import (
    FAR,
    MAX_WEIGHT,
    Tables,
    any_right,
    candidate_scores,
    rarity_weights,
    share_of_right,
    zero_prior,
)
from niwaki.tasks.senses import Senses

from .inventory import key, sentence, write_inventory
from .rows import TOKENIZER, jsonl, only

ROWS = [sentence(n) for n in range(40)]


@pytest.fixture
def task(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    return Senses(path=jsonl(tmp_path / "rows.jsonl", ROWS), glosses="words", dimensions=3)


def test_targets_are_at_the_first_tokens_of_words(task):
    features = task.features(task.splits()["train"], TOKENIZER)
    flat = features.targets.values
    requested = np.flatnonzero(flat != NO_LABEL)
    assert (
        len(requested) == len(features) and (features.rows.ids.values[requested] == TOKENIZER.token_to_id("film")).all()
    )
    assert set(flat[requested]) == {0, 1}  # the first sense is right, or the second
    assert list(task.criterion.questions.numbers) == sorted(
        task.criterion.questions.numbers, key=task.criterion.questions.numbers.__getitem__
    )
    assert {right for *_, right in task.criterion.questions.numbers} == {
        (True, False, False),
        (False, True, False),
    }  # verbs are candidates too


@pytest.mark.parametrize(
    ("lemma", "keys"),
    [("actor", [key("actor", "noun", 1)]), ("film", ["film%1:99:00::"]), ("bunk", ["bunk%1:01:00::"])],
    ids=["one sense", "a key that is not there", "an unknown lemma"],
)
def test_words_without_a_choice_are_not_trained(task, lemma, keys):
    assert task.criterion.questions.number(task.inventories.without_vectors, lemma, keys) == NO_LABEL


def dense(sense_inventory):
    dimensions = sense_inventory.vectors.codes.shape[1]
    found = np.zeros((len(sense_inventory.keys), dimensions + 45 + 3), dtype=np.float32)
    found[:, :dimensions] = sense_inventory.vectors.codes[sense_inventory.row] * sense_inventory.vectors.scale
    found[np.arange(len(found)), dimensions + sense_inventory.lexfile] = 1
    found[:, dimensions + LEXFILES :] = sense_inventory.prior
    return torch.from_numpy(found)


def test_candidate_scores_equal_products_with_dense_vectors(task):
    sense_inventory = task.inventories.complete
    v = torch.randn(3, len(task.labels), generator=torch.Generator().manual_seed(0), requires_grad=True)
    sense_ranges = torch.tensor(
        [sense_inventory.candidates("film"), sense_inventory.candidates("plot"), sense_inventory.candidates("actor")]
    )
    found = candidate_scores(v, sense_ranges, Tables.of(sense_inventory, v.device))
    wanted = v @ dense(sense_inventory).T
    for row, (first, last) in enumerate(sense_ranges.tolist()):
        torch.testing.assert_close(found[row, : last - first], wanted[row, first:last])
        assert (found[row, last - first :] == FAR).all()
    owners = np.repeat(np.arange(3), (sense_ranges[:, 1] - sense_ranges[:, 0]).numpy())
    senses = np.concatenate([np.arange(*one) for one in sense_ranges.tolist()])
    by_numpy = sense_inventory.scores(v.detach().numpy(), owners, senses)  # as a deployment does
    np.testing.assert_allclose(by_numpy, wanted.detach().numpy()[owners, senses], rtol=1e-5)
    (found[found > FAR].sum()).backward()
    torch.testing.assert_close(v.grad[0], dense(sense_inventory)[slice(*sense_ranges[0].tolist())].sum(dim=0))


def test_loss_matches_values_computed_by_hand():
    """Two words: probabilities 1/4 and 3/4, where the second is right; three alike, of which two are right."""
    scores = torch.tensor([[0.0, math.log(3), FAR], [1.0, 1.0, 1.0]])
    right = torch.tensor([[False, True, False], [True, False, True]])
    assert any_right(scores, right).tolist() == pytest.approx([-math.log(3 / 4), -math.log(2 / 3)], rel=1e-5)


def test_loss_reads_only_the_target_tokens(task):
    task.features(task.splits()["train"], TOKENIZER)
    targets = torch.full((2, 4), NO_LABEL)
    targets[0, 2], targets[1, 1] = 0, 1
    logits = torch.randn(2, 4, len(task.labels), generator=torch.Generator().manual_seed(1), requires_grad=True)
    criterion = task.criterion
    criterion.without_prior = 0.0
    loss = criterion.loss(logits, only(targets))
    first, last = task.inventories.complete.candidates("film")
    g = dense(task.inventories.complete)[first:last]
    right = [question[2].index(True) for question in task.criterion.questions.numbers]
    logs = [torch.log_softmax(g @ logits[place], dim=0)[right[n]] for n, place in enumerate([(0, 2), (1, 1)])]
    assert loss.item() == pytest.approx(-(logs[0] + logs[1]).item() / 2, rel=1e-5)
    loss.backward()
    touched = logits.grad.abs().sum(dim=-1) > 0
    assert touched.tolist() == (targets != NO_LABEL).tolist()


def test_soft_loss_is_zero_only_for_equal_logits_at_targets(task):
    task.features(task.splits()["train"], TOKENIZER)
    targets = torch.tensor([[NO_LABEL, 0, 1]])
    one, other = torch.randn(2, 1, 3, len(task.labels), generator=torch.Generator().manual_seed(2))
    batch = only(targets)
    assert task.criterion.soft_loss(one, one, batch, 2.0).item() == pytest.approx(0, abs=1e-6)
    assert task.criterion.soft_loss(one, other, batch, 1.0).item() > 1e-4
    elsewhere = other.clone()
    elsewhere[0, 1:] = one[0, 1:]  # differs only where nothing is requested
    assert task.criterion.soft_loss(one, elsewhere, batch, 1.0).item() == pytest.approx(0, abs=1e-6)


def test_batch_without_targets_has_zero_loss(task):
    logits = torch.randn(1, 2, len(task.labels), requires_grad=True)
    batch = Batch({}, torch.full((1, 2), NO_LABEL), torch.arange(1))
    loss = task.criterion.loss(logits, batch) + task.criterion.soft_loss(logits, logits.detach(), batch, 1.0)
    loss.backward()
    assert loss.item() == 0 and not logits.grad.any()


# ── rare senses ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_scores_without_the_prior_are_those_of_gloss_and_file(task):
    inventory = task.inventories.complete
    vectors = torch.randn(1, len(task.labels), generator=torch.Generator().manual_seed(3))
    ranges = torch.tensor([inventory.candidates("film")])
    g = dense(inventory)[slice(*ranges[0].tolist())]
    found = candidate_scores(zero_prior(vectors), ranges, Tables.of(inventory, vectors.device))
    torch.testing.assert_close(found[0], g[:, :-3] @ vectors[0, :-3])


def test_share_of_correct_senses_by_hand(task):
    """film was seen 5, 1 and 2 times, plot 3 and 3 times; 0.5 is added to each count."""
    inventory = task.inventories.complete
    ranges = torch.tensor([inventory.candidates("film"), inventory.candidates("film"), inventory.candidates("plot")])
    right = torch.tensor([[False, True, False], [True, False, True], [True, False, False]])
    found = share_of_right(ranges, right, Tables.of(inventory, ranges.device))
    assert found.tolist() == pytest.approx([1.5 / 9.5, 8 / 9.5, 0.5])


def test_weights_of_rare_senses_by_hand():
    share = torch.tensor([1.0, 0.25, 1e-6])
    assert rarity_weights(share, 0).tolist() == [1, 1, 1]
    wanted = np.array([1, 2, MAX_WEIGHT])
    assert rarity_weights(share, 0.5).tolist() == pytest.approx((wanted / wanted.mean()).tolist())


@pytest.mark.parametrize(("without_prior", "balance"), [(0.0, 0.0), (0.7, 0.0), (0.7, 0.5)])
def test_settings_of_the_task_reach_the_loss(tmp_path, without_prior, balance):
    write_inventory(tmp_path / "wordnet30")
    path = jsonl(tmp_path / "rows.jsonl", ROWS)
    task = Senses(path=path, glosses="words", dimensions=3, without_prior=without_prior, balance=balance)
    task.features(task.splits()["train"], TOKENIZER)
    logits = torch.randn(1, 2, len(task.labels), generator=torch.Generator().manual_seed(4))
    found = task.criterion.loss(logits, only(torch.tensor([[0, 1]])))
    inventory = task.inventories.complete
    g = dense(inventory)[slice(*inventory.candidates("film"))]
    right = [question[2].index(True) for question in task.criterion.questions.numbers]
    losses = [
        -torch.log_softmax(g @ v, dim=0)[at] - without_prior * torch.log_softmax(g[:, :-3] @ v[:-3], dim=0)[at]
        for v, at in zip(logits[0], right, strict=True)
    ]
    weights = np.array([(5.5, 1.5)[at] / 9.5 for at in right]) ** -balance
    assert found.item() == pytest.approx(float(np.average([one.item() for one in losses], weights=weights)), rel=1e-5)
