"""Numbers: standard units there and back, a loss by hand, correlations as scipy's."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.regression import Regression

from .rows import TEXTS, TOKENIZER, csv, jsonl, only


def task_on(tmp_path, values, **settings):
    rows = [{"text": text, "score": value} for text, value in zip(TEXTS, values, strict=False)]
    return Regression(path=jsonl(tmp_path / "rows.jsonl", rows), **settings)


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 5, 80).tolist(),
        (1e9 + 0.5 * np.arange(80)).tolist(),
        (1e-9 * np.arange(80)).tolist(),
        (1e90 * np.arange(80)).tolist(),
        list(range(80)),
        [-1e9, *[0.0] * 30, 1e9] * 3,
    ],
    ids=["marks", "large", "small", "huge", "whole", "outliers"],
)
def test_targets_are_standard_units_that_lead_back_to_the_numbers(tmp_path, values):
    task = task_on(tmp_path, values)
    train = task.splits()["train"]
    gold = np.array(task.gold(train))
    features = task.features(train, TOKENIZER)
    assert task.answer_type.mean == pytest.approx(gold.mean()) and task.answer_type.scale == pytest.approx(gold.std())
    assert features.targets.dtype == np.float32 and features.targets.std() == pytest.approx(1.0, rel=1e-3)
    again = task.answer_type.values(features.targets[:, None], features.rows, task.inputs(train), task.labels)
    np.testing.assert_allclose(again, gold, atol=1e-6 * np.ptp(gold))


@pytest.mark.parametrize("value", [0.1, 3, 1e9, 0.0])
def test_equal_numbers_are_learnt_as_themselves(tmp_path, value):
    task = task_on(tmp_path, [value] * 80)
    features = task.features(task.splits()["train"], TOKENIZER)
    assert task.answer_type.scale == 1.0 and np.abs(features.targets).max() < 1e-3
    table = task.splits()["test"]
    scores = task.scorer.scores(task.scorer.example_stats([value] * table.num_rows, table))
    assert scores["mean"] == 0.0 and scores["rmse"] == 0.0  # a correlation that is undefined is none


def test_a_number_far_below_all_others_is_not_taken_for_none(tmp_path):
    task = task_on(tmp_path, np.linspace(0, 1, 80).tolist())
    targets = task.targets(pa.table({"label": [-1e6, 0.5]}), None)
    assert targets[0] > NO_LABEL and targets[0] == NO_LABEL + 1


@pytest.mark.parametrize(
    "value, message",
    [
        ("much", "column 'score' is not all numbers"),
        ("", "empty cells ('score' 1)"),
        (" ", "empty cells ('score' 1)"),
        ("nan", "has missing numbers, or some over 1e+100"),
        ("inf", "has missing numbers, or some over 1e+100"),
        ("-1e200", "has missing numbers, or some over 1e+100"),
        ('"1,5"', "column 'score' is not all numbers"),
    ],
)
def test_invalid_numbers_are_rejected(tmp_path, value, message):
    rows = [f"{text},{number}.5" for number, text in enumerate(TEXTS[:30])] + [f"a film,{value}"]
    with pytest.raises(InputError) as caught:
        Regression(path=csv(tmp_path / "x.csv", "text,score", rows)).splits()
    assert message in str(caught.value)


def test_numbers_may_be_written_with_space_around_them(tmp_path):
    rows = [f"{text}, {number}.5 " for number, text in enumerate(TEXTS)]
    task = Regression(path=csv(tmp_path / "x.csv", "text,score", rows))
    assert sorted(sum((task.gold(table) for table in task.splits().values()), [])) == [n + 0.5 for n in range(80)]  # noqa: RUF017


def test_loss_by_hand(tmp_path):
    task = task_on(tmp_path, range(80))
    logits = torch.tensor([[1.0], [3.0], [50.0]], requires_grad=True)
    loss = task.criterion.loss(logits, only(torch.tensor([0.0, 1.0, NO_LABEL])))
    assert loss.item() == pytest.approx((1 + 4) / 2)
    loss.backward()
    assert logits.grad.ravel().tolist() == [1.0, 2.0, 0.0]  # the row without a number pulls at nothing
    logits.grad = None
    task.criterion.loss(logits, only(torch.full((3,), float(NO_LABEL)))).backward()
    assert logits.grad.abs().sum() == 0


def test_soft_loss_is_the_squared_distance_at_any_temperature(tmp_path):
    task, batch = task_on(tmp_path, range(80)), only(torch.tensor([0.0, float(NO_LABEL)]))
    student, teacher = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [-1.0]])
    for temperature in (1.0, 4.0):
        assert task.criterion.soft_loss(student, teacher, batch, temperature).item() == pytest.approx((4 + 9) / 2)


def test_texts_that_only_a_teacher_reads_have_no_number(tmp_path):
    built = task_on(tmp_path, range(80)).unlabelled_features(["a film", "a plot"], TOKENIZER, 8)
    assert built.targets.tolist() == [NO_LABEL] * 2 and built.targets.dtype == np.float32


@given(some.lists(some.tuples(some.integers(-99, 99), some.integers(-5, 5)), min_size=3, max_size=30))
def test_scores_are_scipys(rows):
    predicted, gold = np.array(rows, dtype=np.float64).T
    table = pa.table({"label": gold})
    scores = Regression(path="x").scorer.scores(Regression(path="x").scorer.example_stats(predicted.tolist(), table))
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - gold) ** 2)))
    if len(set(predicted)) > 1 and len(set(gold)) > 1:
        assert scores["pearson"] == pytest.approx(scipy.stats.pearsonr(predicted, gold).statistic, abs=1e-9)
        assert scores["spearman"] == pytest.approx(scipy.stats.spearmanr(predicted, gold).statistic, abs=1e-9)
    assert scores["mean"] == pytest.approx((scores["pearson"] + scores["spearman"]) / 2)


def test_predictions_of_a_file():
    assert Regression(path="x").scorer.parse_value("2.5") == 2.5 and Regression(path="x").scorer.parse_value(3) == 3.0


def test_the_errors_of_rows_follow_the_correlation_and_not_the_scale():
    scorer, draw = Regression(path="x").scorer, np.random.default_rng(0)
    gold = draw.normal(size=50)
    stats = np.stack([gold + draw.normal(size=50), gold], axis=1)
    assert scorer.errors(stats).mean() == pytest.approx(2 * (1 - scorer.scores(stats)["pearson"]))
    assert np.allclose(scorer.errors(stats * [3, 1] + [7, 0]), scorer.errors(stats))


def test_the_errors_of_rows_by_hand():
    """Standard scores of the answers: -1.22, 0, 1.22; of the labels: 0, 1.22, -1.22."""
    found = Regression(path="x").scorer.errors(np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 1.0]]))
    assert np.allclose(found, [1.5, 1.5, 6.0])
    constant = Regression(path="x").scorer.errors(np.array([[1.0, 2.0], [1.0, 4.0]]))
    assert np.allclose(constant, [1, 1])
