"""The linear probe: it trains the head alone, as scikit-learn would or before it overfits, and the frozen encoder may be the best model."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import tiny
from niwaki.core import log
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.meter.ledger import Ledger
from niwaki.methods.adapt.linear_probe import LinearProbe, fit_head, fit_linear, has_linear_model
from niwaki.methods.adapt.pair_head import PairHead
from niwaki.methods.adapt.pooled_head import PooledHead
from niwaki.models import linear_model
from niwaki.models.anatomy import reads_one_vector
from niwaki.models.criteria import CrossEntropy
from niwaki.models.forward import Batch, Outputs, forward
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage

CRITERION = CrossEntropy()


def loss(outputs: Outputs, batch: Batch) -> torch.Tensor:
    return CRITERION.loss(outputs.logits, batch)


def examples(count: int, noise: float):
    """Batches of vectors whose first number tells the label, except where noise flips it."""
    draw = torch.Generator().manual_seed(0)
    for number in range(count):
        vectors = torch.randn(16, 6, generator=draw)
        flipped = torch.rand(16, generator=draw) < noise
        yield vectors, Batch({}, ((vectors[:, 0] > 0) ^ flipped).long(), torch.arange(16) + 16 * number)


def fitted(count: int, noise: float, epochs: int):
    torch.manual_seed(0)
    linear = nn.Linear(6, 2)
    given = list(examples(count, noise))
    losses = fit_head(
        lambda pooled: linear(pooled[:, 0]),
        nn.ModuleList([linear]),
        given,
        loss,
        epochs,
        0.05,
        torch.Generator().manual_seed(0),
    )
    held_out = given[::10]
    with torch.no_grad():
        found = sum(loss(Outputs(linear(vectors)), batch).item() for vectors, batch in held_out) / len(held_out)
    return linear, losses, found


def test_the_head_learns_separable_features():
    linear, losses, _ = fitted(30, 0.0, 20)
    assert losses[-1] < 0.1 < losses[0]
    difference = (linear.weight[1] - linear.weight[0]).abs()
    assert difference.argmax() == 0 and linear.weight.grad is None


def test_the_epoch_with_the_smallest_held_out_loss_is_chosen():
    _, losses, found = fitted(11, 0.4, 40)
    assert found == pytest.approx(min(losses)) and min(losses) < losses[-1]


LABEL = "single_label_classification"


def probed(method, problem: str, outputs: int, monkeypatch):
    """A model whose head was fitted with one penalty, what its head read, the targets, and its logits."""
    monkeypatch.setattr(linear_model, "STRENGTHS", (0.03,))
    labels = [f"label {number}" for number in range(outputs)]
    model = method.dry_prepare(tiny.model(labels=labels, problem_type=problem))
    pooled = torch.randn(80, 2 * 32 if isinstance(method, PairHead) else 32, generator=torch.Generator().manual_seed(1))
    gold = (pooled[:, :outputs] * 2 + torch.randn(80, outputs, generator=torch.Generator().manual_seed(2))).squeeze(1)
    gold = gold.argmax(dim=1) if problem == LABEL else gold
    parts = [torch.cat(rows.chunk(2, dim=1)) if isinstance(method, PairHead) else rows for rows in pooled.chunk(4)]
    fit_linear(model, [(rows, Batch({}, some, None)) for rows, some in zip(parts, gold.chunk(4), strict=True)], 0)
    with torch.no_grad():
        read = torch.cat([model.anatomy.head.features(rows[:, None]) for rows in parts]).numpy()
        logits = torch.cat([model.network.head.eval()(rows[:, None]) for rows in parts]).numpy()
    return read, gold.numpy(), logits


@pytest.mark.parametrize("method", [PooledHead(mode="mean", dense=False), PairHead()], ids=["pooled", "pair"])
def test_a_head_of_one_matrix_predicts_as_scikit_learn(method, monkeypatch):
    read, gold, logits = probed(method, LABEL, 3, monkeypatch)
    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=0.03)).fit(read, gold)
    np.testing.assert_array_equal(logits.argmax(axis=1), theirs.predict(read))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares, theirs.predict_proba(read), atol=1e-3)


def test_a_number_is_fitted_by_ridge_regression(monkeypatch):
    read, gold, logits = probed(PooledHead(mode="mean", dense=False), "regression", 1, monkeypatch)
    theirs = make_pipeline(StandardScaler(), Ridge(alpha=1 / 0.03)).fit(read, gold)
    np.testing.assert_allclose(logits[:, 0], theirs.predict(read), atol=1e-4)


def test_other_heads_are_trained_by_gradient_steps():
    def linear(method, **settings):
        return has_linear_model(method.dry_prepare(tiny.model(**{"problem_type": LABEL, **settings})))

    assert linear(PooledHead(mode="mean", dense=False)) and not linear(PooledHead(mode="mean"))
    assert not linear(PooledHead(mode="mean", dense=False), problem_type=None)
    many = [f"label {number}" for number in range(linear_model.MANY_LABELS + 1)]
    assert not linear(PooledHead(mode="mean", dense=False), labels=many)


def test_features_are_what_the_head_reads():
    """Their product with the last matrix is what the network answers."""
    model = PooledHead(mode="mean", dense=False).dry_prepare(tiny.model())
    batch = tiny.batch(model)
    with torch.no_grad():
        outputs = forward(model.anatomy, batch, frozenset({"pooled"}))
        features = model.anatomy.head.features(outputs.pooled[0][:, None])
        torch.testing.assert_close(model.network.head.linear(features), outputs.logits)


@pytest.mark.parametrize(
    "settings", [{"head": "TokenClassification"}, {"family": "averaging"}], ids=["tagger", "no layers"]
)
def test_heads_that_read_no_vector_of_a_text_are_rejected(settings):
    with pytest.raises(InputError, match=r"linear_probe: .* leave it out"):
        LinearProbe().dry_prepare(tiny.model(**settings))


def test_other_heads_can_be_trained_without_a_probe():
    tagger = tiny.model(head="TokenClassification")
    assert not reads_one_vector(tagger.anatomy) and reads_one_vector(tiny.model().anatomy)
    assert LinearProbe(other_heads="skip").dry_prepare(tagger) is tagger


def test_the_unchanged_encoder_is_chosen_if_training_makes_it_worse(
    bert_folder, rows_csv, tmp_path, capsys, monkeypatch
):
    """A learning rate that destroys the encoder: the model of step 0, with the probed head, is the best one."""
    monkeypatch.setattr(log, "_quiet", False)
    probed = {
        "name": "probed",
        "methods": [{"use": "linear_probe", "epochs": 5}],
        "train": {"epochs": 0.5, "batch": 16, "lr": 0.5, "precision": "fp32"},
    }
    recipe = {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    plan = make_plan(parse({**recipe, "stages": [probed]}), "probe")
    (tmp_path / "stages").mkdir()
    (stage,) = plan.stages
    run_stage(plan, stage, tmp_path, Ledger(tmp_path / "ledger.jsonl"), lambda: False)
    training = read_json(tmp_path / stage.folder / "result.json")["training"]
    assert training["best_step"] == 0 and training["steps"] > 0 and training["start_is_best"]
    assert "the frozen encoder with its trained head" in capsys.readouterr().err
    start, found = (
        load_folder(folder).anatomy.trunk.state_dict() for folder in (bert_folder, tmp_path / stage.folder / "model")
    )
    assert all(torch.equal(start[name], value) for name, value in found.items() if "pooler" not in name)
