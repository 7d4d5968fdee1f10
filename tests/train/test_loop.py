"""The loop: a resumed run ends with the same bits, the best weights remain, and a loss that is not finite stops it."""

import json
import math

import pytest
import torch

import stock
import tiny
from niwaki.core.errors import NiwakiError
from niwaki.core.files import read_lines
from niwaki.methods._method import (
    ContributesLoss,
    Method,
    Penalizes,
    Schedules,
)
from niwaki.models.dropout import set_dropout
from niwaki.tasks._label_task import LabelScorer
from niwaki.train.loop import Interrupted, fit
from train.jobs import job, same, weights

pytestmark = pytest.mark.usefixtures("quick_disk")


def test_dropout_and_seed_change_the_weights(task, tmp_path):
    """So that the test above could fail."""
    jobs = [job(task, tmp_path / str(share), dropout=share) for share in (0.0, 0.2)]
    for one in jobs:
        fit(one)
    assert not same(weights(jobs[0]), weights(jobs[1]))


def scripted(scores: list[float], monkeypatch) -> None:
    """Validation gives these scores, one after the other."""
    given = iter(scores)

    def fake(self, example_stats):
        return {"accuracy": next(given), "f1_macro": 0.0}

    monkeypatch.setattr(LabelScorer, "scores", fake)


def test_best_weights_remain_and_patience_ends_training(task, tmp_path, monkeypatch):
    scripted([0.5, 0.9, 0.9, 0.8, 0.99], monkeypatch)
    stopped = job(task, tmp_path / "a", epochs=5, patience=2)
    position = fit(stopped)
    steps = position.step // 4
    assert position.stopped and (position.best_score, position.best_step) == (0.9, 2 * steps)
    monkeypatch.undo()
    shorter = job(task, tmp_path / "b", epochs=5, stop_at=(2 * steps,))  # the same steps, stopped at the best
    with pytest.raises(Interrupted):
        fit(shorter)
    assert same(weights(stopped), weights(shorter))


def test_keep_last_keeps_the_last_weights(task, tmp_path, monkeypatch):
    """The best score and its step are reported all the same, and patience counts from them."""
    scripted([0.9, 0.5, 0.6], monkeypatch)
    last, best = (job(task, tmp_path / keep, epochs=3, keep=keep) for keep in ("last", "best"))
    position = fit(last)
    assert not position.stopped and (position.best_score, position.best_step) == (0.9, position.step // 3)
    scripted([0.9, 0.5, 0.6], monkeypatch)
    fit(best)
    monkeypatch.undo()
    longest = job(task, tmp_path / "c", epochs=3, keep="best")
    scripted([0.1, 0.2, 0.3], monkeypatch)
    fit(longest)
    assert same(weights(last), weights(longest)) and not same(weights(last), weights(best))


def test_all_epochs_run_without_patience(task, tmp_path):
    position = fit(job(task, tmp_path, epochs=2.5))
    kinds = [record["kind"] for record in position.history]
    assert kinds.count("validation") >= 2 and position.history[-1]["kind"] == "validation"
    assert position.history[-1]["step"] == position.step
    first = position.history[0]
    assert (first["kind"], first["step"], first["epoch"]) == ("step", 0, 0.0)
    assert json.loads(json.dumps(position.history)) == position.history


@pytest.mark.parametrize("by", [math.nan, math.inf])
def test_non_finite_loss_is_reported_at_once(task, tmp_path, by):
    class Broken(Method, ContributesLoss):
        def loss(self, model, batch, outputs, loss, context):
            return loss + by

    with pytest.raises(
        NiwakiError, match=r"stage 'tiny': the loss is (nan|inf) at step 0; lower train\.lr \(now 0\.001\)"
    ):
        fit(job(task, tmp_path, methods=[Broken()]))


def test_methods_are_called_in_order_with_the_progress(task, tmp_path):
    calls = []

    class Times(Method, ContributesLoss, Schedules):
        factor: float
        plus: float

        def loss(self, model, batch, outputs, loss, context):
            calls.append((self.factor, float(loss.detach())))
            return loss * self.factor + self.plus

        def after_step(self, model, progress):
            calls.append(progress)

    position = fit(job(task, tmp_path, methods=[Times(factor=2, plus=1), Times(factor=3, plus=0)], epochs=1))
    first, second = calls[0], calls[1]
    assert second == (3.0, pytest.approx(first[1] * 2 + 1))
    progress = [entry for entry in calls if isinstance(entry, float)][::2]
    assert progress == [pytest.approx((step + 1) / position.step) for step in range(position.step)]
    assert progress[-1] == 1.0


def test_penalty_is_added_to_the_loss(task, tmp_path):
    """A budget that stands before soft targets would be gone if it were part of the signal that they replace."""

    class Dear(Method, Penalizes):
        def penalty(self, model, outputs):
            return torch.tensor(7.0)

    class Replaces(Method, ContributesLoss):
        def loss(self, model, batch, outputs, loss, context):
            return 0 * loss + 2.0

    fit(job(task, tmp_path, methods=[Dear(), Replaces(), Dear()], epochs=1))
    assert {record["loss"] for record in read_lines(tmp_path / "train.jsonl") if record["kind"] == "step"} == {16.0}


def test_dropout_is_set_in_every_module_or_left():
    network = tiny.model("bert").network
    before = [module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)]
    set_dropout(network, None)
    assert [module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)] == before
    set_dropout(network, 0.3)
    assert {module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)} == {0.3}


@pytest.mark.parametrize("family", stock.CLASSES)
def test_dropout_of_seq2seq_models_is_set(family):
    """BART and Marian hold it as numbers, T5 as both."""
    network, ids = stock.network(family).train(), torch.tensor([[5, 6, 7]])

    def passes():
        return [
            network(input_ids=ids, attention_mask=torch.ones_like(ids), decoder_input_ids=ids).logits for _ in (1, 2)
        ]

    set_dropout(network, 0.0)
    assert torch.equal(*passes())
    set_dropout(network, 0.3)
    assert not torch.allclose(*passes(), atol=1e-2)


def test_training_learns_the_task(task, tmp_path):
    trained = job(task, tmp_path, epochs=10, lr=3e-3, layers=1, dropout=0.0)
    assert fit(trained).best_score >= 0.75
    assert not trained.model.network.training
