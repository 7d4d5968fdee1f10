"""Rows to labels, losses and scores; what does not fit is rejected before any work."""

import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
import sklearn.metrics
import sklearn.utils
import torch
from hypothesis import given
from hypothesis import strategies as some

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.classification import Classification
from niwaki.tasks.glue.cola import Cola
from niwaki.tasks.glue.mrpc import Mrpc

from .rows import TOKENIZER, counts, csv, jsonl, only


@pytest.fixture
def task(rows_csv):
    return Classification(path=str(rows_csv))


def labelled(tmp_path, labels, texts=None, **settings):
    """A task on as many different texts as there are labels."""
    texts = texts or [text for text, _ in tiny.sentences(len(labels), seed=3)]
    rows = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    return Classification(path=jsonl(tmp_path / "rows.jsonl", rows), **settings)


def test_splits_and_labels(task):
    splits = task.splits()
    assert task.labels == ["bad", "good"]
    assert counts(task) == {"train": 120, "validation": 16, "test": 24}
    assert task.splits() is splits  # read once


@pytest.mark.parametrize(
    "rows, header, message",
    [
        (["film,good"] * 40, "text,label", "are too few"),
        (
            [f"{text},good" for text, _ in tiny.sentences(40)],
            "text,label",
            "has 1 different labels in the train rows, at least 2",
        ),
        (
            [f"{text},{label}" for text, label in tiny.sentences(30)] + [" ,good"],
            "text,label",
            "empty cells ('text' 1)",
        ),
        ([f"{text},{label}" for text, label in tiny.sentences(30)] + ["x,"], "text,label", "empty cells ('label' 1)"),
        (["film,good", "plot,bad"], "text,label", "2 rows are too few"),
        (["the film,good", "the film,bad"] * 20, "text,label", "40 rows of 1 different texts are too few"),
        (
            [f"{text},{label}" for text, label in tiny.sentences(30)] + ["x y, NaN"],
            "text,label",
            "column 'label' holds ' NaN', as programs write a missing value",
        ),
    ],
)
def test_rows_that_cannot_be_used_are_rejected(tmp_path, rows, header, message):
    task = Classification(path=csv(tmp_path / "x.csv", header, rows))
    with pytest.raises(InputError) as caught:
        task.splits(), task.labels
    assert message in str(caught.value) and "x.csv" in str(caught.value)


def test_spaces_around_labels_are_no_part_of_them(tmp_path):
    rows = [f"{text}, {label}" if n % 2 else f"{text},{label} " for n, (text, label) in enumerate(tiny.sentences(60))]
    task = Classification(path=csv(tmp_path / "x.csv", "text,label", rows))
    assert task.labels == ["bad", "good"] and {*task.gold(task.splits()["test"])} == {"bad", "good"}


def test_a_column_that_is_named_wrongly_is_rejected(tmp_path):
    task = Classification(path=csv(tmp_path / "x.csv", "txt,label", ["a,b"]), text="text", label="lable")
    with pytest.raises(InputError) as caught:
        task.splits()
    assert "has no column 'text', did you mean 'txt'? (set data.text)" in caught.value.faults[0]
    assert "has no column 'lable', did you mean 'label'? (set data.label)" in caught.value.faults[1]


def test_columns_of_lists_are_rejected(tmp_path):
    path = jsonl(tmp_path / "x.jsonl", [{"text": ["a"], "label": "x"}])
    with pytest.raises(InputError, match="column 'text' is not text"):
        Classification(path=path, text="text", label="label").splits()


def test_columns_of_odd_names_are_found_and_odd_ones_can_be_named(tmp_path):
    rows = [f"{number},{text},{label},{text[::-1]}" for number, (text, label) in enumerate(tiny.sentences(60))]
    guessed = Classification(path=csv(tmp_path / "x.csv", "Row Id,Review Text,Sentiment,noise_words", rows))
    assert guessed.labels == ["bad", "good"] and guessed.splits()["train"].column_names == ["text", "label"]
    named = Classification(path=str(tmp_path / "x.csv"), text="noise_words", label="Sentiment")
    assert set(named.splits()["train"].column("text").to_pylist()) <= {text[::-1] for text, _ in tiny.sentences(60)}


def test_pairs_are_pairs(tmp_path):
    rows = [{"premise": text, "hypothesis": text.upper(), "label": label} for text, label in tiny.sentences(60)]
    task = Classification(path=jsonl(tmp_path / "x.jsonl", rows))
    train = task.splits()["train"]
    assert all(second == text.upper() for text, second in task.inputs(train))
    assert task.features(train, TOKENIZER).rows.types.values.max() == 1


def test_a_label_that_was_not_in_training_is_rejected_as_a_target_and_counts_as_wrong(tmp_path):
    csv(tmp_path / "train.csv", "text,label", [f"{text},{label}" for text, label in tiny.sentences(40)])
    csv(tmp_path / "test.csv", "text,label", ["film one,strange", "film two,good"])
    task = Classification(path=str(tmp_path))
    test = task.splits()["test"]
    with pytest.raises(InputError, match="label 'strange' is not among the train rows' labels \\(bad, good\\)"):
        task.features(test, TOKENIZER)
    assert task.scorer.scores(task.scorer.example_stats(["good", "good"], test))["accuracy"] == 0.5
    assert (
        task.scorer.scores(task.scorer.example_stats(["odd", "good"], test))["accuracy"] == 0.5
    )  # not the same unknown


def test_no_path():
    with pytest.raises(InputError, match=r"data\.path: needed for task 'classification'"):
        Classification().splits()


def test_targets_are_places_in_the_labels(task):
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    assert [task.labels[number] for number in features.targets] == table.column("label").to_pylist() == task.gold(table)
    assert features.rows.ids.lengths.tolist() == [len(TOKENIZER.encode(text)) for text in task.inputs(table)]


def test_texts_that_only_a_teacher_reads_have_no_label(task):
    built = task.unlabelled_features(["a film", "a plot"], TOKENIZER, 8)
    assert built.targets.tolist() == [NO_LABEL, NO_LABEL] and built.targets.dtype == np.int64
    both = task.features(task.splits()["test"], TOKENIZER).joined(built)
    assert len(both) == 26 and both.targets[-3:].tolist()[1:] == [NO_LABEL] * 2 and both.lengths[-2:].tolist() == [4, 4]


def test_loss_by_hand(task):
    logits = torch.tensor([[0.0, 0.0], [0.0, np.log(3.0)], [9.0, -9.0]], requires_grad=True)
    loss = task.criterion.loss(logits, only(torch.tensor([0, 1, NO_LABEL])))
    assert loss.item() == pytest.approx((np.log(2) + np.log(4 / 3)) / 2)  # the row without a label counts for nothing
    loss.backward()
    assert logits.grad[2].abs().sum() == 0 and logits.grad[:2].abs().min() > 0
    logits.grad = None
    task.criterion.loss(logits, only(torch.full((3,), NO_LABEL))).backward()
    assert logits.grad.abs().sum() == 0


def test_the_loss_of_a_balanced_task_weighs_as_scikit_learn_does(tmp_path):
    task = labelled(tmp_path, ["a"] * 60 + ["b"] * 20 + ["c"] * 10, balanced=True)
    gold = task.gold(task.splits()["train"])
    weights = sklearn.utils.compute_class_weight("balanced", classes=np.array(task.labels), y=gold)
    logits, targets = torch.randn(7, 3), torch.tensor([0, 1, 2, 0, 0, 1, NO_LABEL])
    each = -torch.log_softmax(logits[:6], 1)[torch.arange(6), targets[:6]] * torch.tensor(weights)[targets[:6]]
    assert task.criterion.loss(logits, only(targets)).item() == pytest.approx(each.mean().item(), rel=1e-5)
    plain = labelled(tmp_path, ["a"] * 60 + ["b"] * 20 + ["c"] * 10)
    expected = torch.nn.functional.cross_entropy(logits, targets, ignore_index=NO_LABEL)
    assert plain.criterion.loss(logits, only(targets)).item() == pytest.approx(expected.item(), rel=1e-5)


def test_soft_loss_by_hand(task):
    student, teacher = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.0, 2 * np.log(3.0)]])
    at_two = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)  # softened by 2: 1 : 3 against 1 : 1
    assert task.criterion.soft_loss(student, teacher, only(torch.tensor([0])), 2.0).item() == pytest.approx(
        4 * at_two, rel=1e-5
    )
    assert task.criterion.soft_loss(teacher, teacher, only(torch.tensor([0])), 2.0).item() == pytest.approx(
        0.0, abs=1e-7
    )


@given(some.lists(some.tuples(some.integers(0, 2), some.integers(0, 2)), min_size=1, max_size=30))
def test_scores_are_sklearns(rows):
    example_stats = np.array(rows)
    predicted, gold = example_stats.T
    f1 = {"zero_division": 0}
    scores = Classification(path="x").scorer.scores(example_stats)
    assert scores["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(gold, predicted))
    assert scores["f1_macro"] == pytest.approx(sklearn.metrics.f1_score(gold, predicted, average="macro", **f1))
    two = np.minimum(example_stats, 1)
    scores, f1 = Mrpc(path="x").scorer.scores(two), sklearn.metrics.f1_score(two[:, 1], two[:, 0], **f1)
    assert scores["f1"] == pytest.approx(f1) and list(scores) == ["mean", "f1", "accuracy"]
    assert scores["mean"] == pytest.approx((f1 + sklearn.metrics.accuracy_score(two[:, 1], two[:, 0])) / 2)
    expected = sklearn.metrics.matthews_corrcoef(two[:, 1], two[:, 0])
    assert Cola(path="x").scorer.scores(two)["matthews"] == pytest.approx(expected, abs=1e-9)


def test_stats_are_what_was_predicted_and_what_is_right(task):
    rows = pa.table({"text": ["x"] * 3, "label": ["good", "bad", "good"]})
    assert task.scorer.example_stats(["good", "good", "never heard of"], rows).tolist() == [[1, 1], [1, 0], [2, 1]]


def test_fifty_labels_of_which_one_has_a_third_of_the_rows(tmp_path):
    draw = random.Random(0)
    labels = ["common"] * 300 + [f"label {number % 49}" for number in range(700)]
    texts = [f"{draw.choice(tiny.PLAIN)} {draw.choice(tiny.GOOD)} {number}" for number in range(1000)]
    task = labelled(tmp_path, labels, texts)
    assert len(task.labels) == 50 and sum(counts(task).values()) == 1000
    shares = {"train": 0.75, "validation": 0.1, "test": 0.15}
    for name, table in task.splits().items():
        here, everywhere = Counter(task.gold(table)), Counter(labels)
        assert all(abs(here[label] - shares[name] * everywhere[label]) < 1 for label in everywhere), name
        task.features(table, TOKENIZER)


def test_a_label_seen_once_is_trained_on(tmp_path):
    task = labelled(tmp_path, ["a", "b"] * 30 + ["once"])
    assert task.labels == ["a", "b", "once"] and "once" in task.gold(task.splits()["train"])


@pytest.mark.parametrize(
    "values, labels",
    [([0.0, 1.0], ["0", "1"]), ([0.5, 1.0], ["0.5", "1"]), ([True, False], ["false", "true"]), ([7, 11], ["11", "7"])],
)
def test_labels_that_are_no_texts_are_named_as_they_are_written(tmp_path, values, labels):
    assert labelled(tmp_path, values * 30).labels == labels


def test_more_labels_than_there_can_be_classes(tmp_path, monkeypatch):
    monkeypatch.setattr("niwaki.tasks._label_task.MAX_LABELS", 20)
    with pytest.raises(InputError, match="take task regression, or name another column"):
        labelled(tmp_path, [f"{number % 30}" for number in range(360)]).head  # noqa: B018


def test_predictions_of_a_file_may_be_numbers_or_names():
    assert Cola(path="x").scorer.parse_value("1") == Cola(path="x").scorer.parse_value(1) == "acceptable"
    assert (
        Cola(path="x").scorer.parse_value("acceptable") == "acceptable"
        and Cola(path="x").scorer.parse_value("7") == "7"
    )
    assert Classification(path="x").scorer.parse_value(1) == "1"
