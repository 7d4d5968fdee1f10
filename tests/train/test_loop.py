"""The loop: a resumed run ends with the same bits, the best weights remain, and a loss that is not finite stops it."""

import json
import math

import pytest
import torch

import stock
import teaching
import tiny
from contracts import task_rows
from niwaki.core.errors import NiwakiError
from niwaki.core.files import read_lines
from niwaki.methods._method import (
    Context,
    ContributesLoss,
    Method,
    Penalizes,
    Reshapes,
    Schedules,
    followed_activations,
    methods_with,
)
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.objectives.supervised import Supervised
from niwaki.tasks.choice import Choice
from niwaki.tasks.classification import Classification, ClassificationScorer
from niwaki.tasks.tagging import Tagging
from niwaki.train.collator import Collator, encode_split
from niwaki.train.loop import Interrupted, Job, fit, make_optimizer, schedule, set_dropout
from niwaki.train.settings import TrainSettings

CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    path = tiny.write_csv(tmp_path_factory.mktemp("loop") / "rows.csv", count=60)
    return Classification(path=str(path), validation=0.2, test=0.2)


def job(task, folder, *, methods=(), teacher=False, precision="fp32", stop_at=(), layers=2, **settings) -> Job:
    """All made anew, as a new process would."""
    head = {"labels": task.labels, "head": task.head.architecture}
    model = tiny.model("bert", layers=layers, seed=1, **head)
    if teacher:
        model.apply_edit(HiddenSize(keep=16))
    features = encode_split(model, task, "train")
    context = Context(0, None, None, None, None, task.criterion.soft_loss, None)
    if teacher:
        whole = tiny.model("bert", layers=4, seed=2, **head)
        early = Context(0, None, whole, None, None, task.criterion.soft_loss, None)
        for method in methods_with(methods, Reshapes):
            model = method.prepare(model, early)
        activations = followed_activations(methods, model, whole)
        answering = teaching.teacher(
            whole, Collator(encode_split(whole, task, "train"), whole, CPU), activations, folder / "teacher", precision
        )
        context = Context(0, answering, whole, None, None, task.criterion.soft_loss, None)
    stops, done = set(stop_at), iter(range(1, 10_000))
    return Job(
        "tiny",
        model,
        methods,
        context,
        Supervised(task),
        Collator(features, model, CPU),
        Collator(encode_split(model, task, "validation"), model, CPU),
        TrainSettings(**{"epochs": 3, "batch": 8, "lr": 1e-3, **settings}),
        precision,
        7,
        folder,
        lambda: next(done) in stops,
    )


def weights(trained: Job) -> dict[str, torch.Tensor]:
    return trained.model.network.state_dict()


def same(one: dict, two: dict) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("teacher", [False, True], ids=["plain", "tinybert"])
def test_interrupted_anywhere_and_resumed_it_ends_with_the_same_bits(task, tmp_path, precision, teacher):
    def build(folder, **more):
        methods = [TinyBert(truth=0.5)] if teacher else []
        return job(
            task, folder, methods=methods, teacher=teacher, precision=precision, dropout=0.2, validations=2, **more
        )

    whole = build(tmp_path / "whole")
    helper = whole.methods[0].helpers["projection"].weight.detach().clone() if teacher else None
    straight = fit(whole)
    stops = [(1,), (3,), (1,), (2,), ()]  # steps after the last stop
    for steps in stops:
        again = build(tmp_path / "parts", stop_at=steps)
        if steps:
            with pytest.raises(Interrupted):
                fit(again)
        else:
            resumed = fit(again)
    assert straight.step > 8 and resumed == straight
    assert same(weights(again), weights(whole))
    assert read_lines(tmp_path / "parts" / "train.jsonl") == read_lines(tmp_path / "whole" / "train.jsonl")
    if teacher:
        assert same(again.methods[0].helpers.state_dict(), whole.methods[0].helpers.state_dict())
        assert not torch.equal(whole.methods[0].helpers["projection"].weight, helper)  # the loop trains it too


@pytest.mark.parametrize("kind", [Tagging, Choice])
def test_tags_and_choices_resume_to_the_same_bits(tmp_path, kind):
    """Answers for each token, and several sequences a row, from a teacher's table that lies on the disk."""
    rows = task_rows.write(kind.__name__.lower(), tmp_path, count=40)

    def go(folder, stops):
        for steps in stops:  # each with a task, a model and a teacher of its own, as a new process has
            again = job(
                kind(path=str(rows)), folder, methods=[Logits()], teacher=True, dropout=0.2, epochs=2, stop_at=steps
            )
            if steps:
                with pytest.raises(Interrupted):
                    fit(again)
        return fit(again), again

    straight, whole = go(tmp_path / "whole", [()])
    resumed, parts = go(tmp_path / "parts", [(1,), (3,), ()])
    assert straight.step > 5 and resumed == straight and same(weights(parts), weights(whole))


def test_dropout_and_seed_really_matter(task, tmp_path):
    """So that the test above could fail."""
    jobs = [job(task, tmp_path / str(share), dropout=share) for share in (0.0, 0.2)]
    for one in jobs:
        fit(one)
    assert not same(weights(jobs[0]), weights(jobs[1]))


def test_a_damaged_newest_state_gives_way_to_the_one_before(task, tmp_path):
    whole = job(task, tmp_path / "whole")
    fit(whole)
    for stop in ((4,), (3,)):
        with pytest.raises(Interrupted):
            fit(job(task, tmp_path / "parts", stop_at=stop))
    states = sorted((tmp_path / "parts").glob("checkpoint-*"))
    assert [path.name for path in states] == ["checkpoint-00000004", "checkpoint-00000007"]
    path = states[1] / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    again = job(task, tmp_path / "parts", stop_at=(1,))
    with pytest.raises(Interrupted):
        fit(again)
    assert (tmp_path / "parts" / "checkpoint-00000005").is_dir()
    again = job(task, tmp_path / "parts")
    fit(again)
    assert same(weights(again), weights(whole))


def test_only_two_checkpoints_remain(task, tmp_path):
    with pytest.raises(Interrupted):
        fit(job(task, tmp_path, save_seconds=1e-9, stop_at=(6,)))
    assert [path.name for path in sorted(tmp_path.glob("checkpoint-*"))] == [
        "checkpoint-00000005",
        "checkpoint-00000006",
    ]


def test_all_states_damaged_starts_anew(task, tmp_path):
    whole = job(task, tmp_path / "whole")
    fit(whole)
    with pytest.raises(Interrupted):
        fit(job(task, tmp_path / "parts", stop_at=(3,)))
    (tmp_path / "parts" / "checkpoint-00000003" / "MANIFEST").unlink()
    again = job(task, tmp_path / "parts")
    fit(again)
    assert same(weights(again), weights(whole))


def scripted(scores: list[float], monkeypatch) -> None:
    """Validation gives these scores, one after the other."""
    given = iter(scores)

    def fake(self, example_stats):
        return {"accuracy": next(given), "f1_macro": 0.0}

    monkeypatch.setattr(ClassificationScorer, "scores", fake)


def test_the_best_weights_remain_and_patience_ends_training(task, tmp_path, monkeypatch):
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


def test_keep_last_leaves_the_last_weights(task, tmp_path, monkeypatch):
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


def test_without_patience_all_epochs_are_done_and_the_last_step_is_validated(task, tmp_path):
    position = fit(job(task, tmp_path, epochs=2.5))
    kinds = [record["kind"] for record in position.history]
    assert kinds.count("validation") >= 2 and position.history[-1]["kind"] == "validation"
    assert position.history[-1]["step"] == position.step
    first = position.history[0]
    assert (first["kind"], first["step"], first["epoch"]) == ("step", 0, 0.0)
    assert json.loads(json.dumps(position.history)) == position.history


@pytest.mark.parametrize("by", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_is_reported_at_once(task, tmp_path, by):
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


def test_a_price_is_added_to_whatever_signal_there_is(task, tmp_path):
    """A budget that stands before soft targets would be gone if it were part of the signal that they replace."""

    class Dear(Method, Penalizes):
        def penalty(self, model):
            return torch.tensor(7.0)

    class Replaces(Method, ContributesLoss):
        def loss(self, model, batch, outputs, loss, context):
            return 0 * loss + 2.0

    fit(job(task, tmp_path, methods=[Dear(), Replaces(), Dear()], epochs=1))
    assert {record["loss"] for record in read_lines(tmp_path / "train.jsonl") if record["kind"] == "step"} == {16.0}


def test_schedule_by_hand():
    assert [round(schedule(step, 10, 0.2), 4) for step in range(10)] == [
        0.5,
        1.0,
        1.0,
        0.875,
        0.75,
        0.625,
        0.5,
        0.375,
        0.25,
        0.125,
    ]
    assert [schedule(step, 4, 0.0) for step in range(4)] == [1.0, 0.75, 0.5, 0.25]
    assert schedule(0, 1, 0.1) == 1.0
    assert all(0 < schedule(step, total, 0.9) <= 1 for total in (1, 2, 3, 7) for step in range(total))


def test_weight_decay_is_for_matrices_only():
    modules = torch.nn.ModuleDict({"a": torch.nn.Linear(3, 2), "b": torch.nn.LayerNorm(2)})
    decayed, plain = make_optimizer(modules, TrainSettings(weight_decay=0.3)).param_groups
    assert [tuple(p.shape) for p in decayed["params"]] == [(2, 3)] and decayed["weight_decay"] == 0.3
    assert len(plain["params"]) == 3 and plain["weight_decay"] == 0.0
    with pytest.raises(NiwakiError, match="nothing is left to train"):
        make_optimizer(modules.requires_grad_(False), TrainSettings())


def test_dropout_is_set_everywhere_or_left():
    network = tiny.model("bert").network
    before = [module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)]
    set_dropout(network, None)
    assert [module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)] == before
    set_dropout(network, 0.3)
    assert {module.p for module in network.modules() if isinstance(module, torch.nn.Dropout)} == {0.3}


@pytest.mark.parametrize("family", stock.CLASSES)
def test_dropout_of_a_seq2seq_model_is_set_too(family):
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


def test_training_learns(task, tmp_path):
    trained = job(task, tmp_path, epochs=10, lr=3e-3, layers=1, dropout=0.0)
    assert fit(trained).best_score >= 0.75
    assert not trained.model.network.training
