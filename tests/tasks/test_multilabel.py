"""Any number of labels: from lists and from cells, a loss as torch's, scores as scikit-learn's."""

import numpy as np
import pyarrow as pa
import pytest
import sklearn.metrics
import torch
from hypothesis import given
from hypothesis import strategies as some
from sklearn.preprocessing import MultiLabelBinarizer

from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.multilabel import Multilabel

from .rows import TEXTS, TOKENIZER, csv, folder, jsonl, only

LISTS = [["joy"], ["joy", "fear"], [], ["anger", "joy"], ["fear"]]


def task_on(tmp_path, lists=LISTS, **settings):
    rows = [{"text": text, "labels": lists[number % len(lists)]} for number, text in enumerate(TEXTS)]
    return Multilabel(path=jsonl(tmp_path / "rows.jsonl", rows), **settings)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return task_on(tmp_path_factory.mktemp("rows"))


def everything(task):
    return {
        text: labels
        for table in task.splits().values()
        for text, labels in zip(task.inputs(table), task.gold(table), strict=True)
    }


def test_lists_as_they_are(tmp_path):
    task = task_on(tmp_path)
    assert task.labels == ["anger", "fear", "joy"]
    assert everything(task) == {text: LISTS[number % 5] for number, text in enumerate(TEXTS)}


@pytest.mark.parametrize("mark", ["|", ";", ","])
def test_cells_are_cut_at_their_mark(tmp_path, mark):
    cells = [f"{mark} ".join(labels) for labels in LISTS]
    rows = [f'"{text}","{cells[number % 5]}"' for number, text in enumerate(TEXTS)]
    path = csv(tmp_path / "x.csv", "text,labels", rows)
    for task in (Multilabel(path=path), Multilabel(path=path, separator=mark)):
        assert everything(task) == {text: LISTS[number % 5] for number, text in enumerate(TEXTS)}
        assert task.scorer.parse_value(f"joy{mark} fear") == ["joy", "fear"]


def test_a_test_file_too_small_to_show_the_mark_is_cut_as_the_train_file_is(tmp_path):
    cells = [";".join(labels) for labels in LISTS]
    csv(tmp_path / "rows" / "train.csv", "text,labels", [f"{text},{cells[n % 5]}" for n, text in enumerate(TEXTS)])
    csv(tmp_path / "rows" / "test.csv", "text,labels", ["one film,joy;fear", "two films,"])
    task = Multilabel(path=str(tmp_path / "rows"))
    assert task.gold(task.splits()["test"]) == [["joy", "fear"], []]


def test_lists_of_numbers_and_missing_lists(tmp_path):
    rows = [{"text": text, "labels": [[1, 2], [3], None][number % 3]} for number, text in enumerate(TEXTS)]
    task = Multilabel(path=folder(tmp_path / "rows", train=rows))
    assert task.labels == ["1", "2", "3"] and everything(task)[TEXTS[2]] == []


@pytest.mark.parametrize(
    "lists, message",
    [([[]], "no train row has a label"), ([["joy"], ["fear", None]], "empty cells"), ([["joy"], [" "]], "empty cells")],
)
def test_invalid_labels_are_rejected(tmp_path, lists, message):
    with pytest.raises(InputError, match=message):
        task_on(tmp_path, lists, text="text", label="labels").head  # noqa: B018


def test_targets_are_scikit_learns_table(tmp_path):
    task = task_on(tmp_path)
    table = task.splits()["train"]
    expected = MultiLabelBinarizer(classes=task.labels).fit_transform(task.gold(table))
    assert task.features(table, TOKENIZER).targets.tolist() == expected.tolist()


def test_a_label_that_was_not_in_training_is_rejected(tmp_path):
    task = task_on(tmp_path)
    with pytest.raises(InputError, match="label 'awe' is not among the train rows' labels \\(anger, fear, joy\\)"):
        task.targets(pa.table({"label": [["joy"], ["awe"]]}), None)


def test_loss_by_hand_and_as_torchs(tmp_path):
    task = task_on(tmp_path)
    logits = torch.zeros((2, 3), requires_grad=True)
    batch = only(torch.tensor([[1.0, 0.0, 1.0], [NO_LABEL] * 3]))
    loss = task.criterion.loss(logits, batch)
    assert loss.item() == pytest.approx(3 * np.log(2))  # three coins; the row without labels counts for nothing
    loss.backward()
    assert logits.grad.tolist() == [[-0.5, 0.5, -0.5], [0.0, 0.0, 0.0]]
    some_logits, targets = torch.randn(5, 3), torch.randint(0, 2, (5, 3)).float()
    expected = torch.nn.functional.binary_cross_entropy_with_logits(some_logits, targets) * 3
    assert task.criterion.loss(some_logits, only(targets)).item() == pytest.approx(expected.item(), rel=1e-6)
    logits.grad = None
    task.criterion.loss(logits, only(torch.full((2, 3), float(NO_LABEL)))).backward()
    assert logits.grad.abs().sum() == 0


def test_soft_loss_by_hand(tmp_path):
    task = task_on(tmp_path)
    student, teacher = torch.zeros(1, 3), torch.tensor([[2 * np.log(3.0), 0.0, -2 * np.log(3.0)]])
    each = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)  # at temperature 2, for the first label and the last
    found = task.criterion.soft_loss(student, teacher, only(torch.zeros(1, 3)), 2.0)
    assert found.item() == pytest.approx(4 * 2 * each, rel=1e-5)


@given(some.lists(some.tuples(*[some.sets(some.sampled_from(["anger", "fear", "joy"]))] * 2), min_size=1, max_size=20))
def test_scores_are_sklearns(task, rows):
    predicted, gold = ([sorted(labels) for labels in column] for column in zip(*rows, strict=True))
    scores = task.scorer.scores(
        task.scorer.example_stats(predicted, pa.table({"label": pa.array(gold, pa.list_(pa.string()))}))
    )
    table = MultiLabelBinarizer(classes=task.labels)
    ours, theirs = table.fit_transform(predicted), table.fit_transform(gold)
    for average in ("micro", "macro"):
        expected = sklearn.metrics.f1_score(theirs, ours, average=average, zero_division=0)
        assert scores[f"f1_{average}"] == pytest.approx(expected)
    assert scores["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(theirs, ours))


def test_predictions_of_a_file():
    task = Multilabel(path="x")
    assert task.scorer.parse_value("joy | fear") == ["joy", "fear"] and task.scorer.parse_value(["joy"]) == ["joy"]
    assert task.scorer.parse_value("") == [] and task.scorer.parse_value(None) == []


def test_texts_that_only_a_teacher_reads_have_no_labels(tmp_path):
    built = task_on(tmp_path).unlabelled_features(["a film"], TOKENIZER, 8)
    assert built.targets.tolist() == [[NO_LABEL] * 3]


def test_errors_of_a_row_are_missing_and_wrong_labels(tmp_path):
    """Of three labels: none wrong, one missing, one missing and two too many."""
    stats = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 1, 1, 0], [0, 1, 1, 1, 0, 0]]) > 0
    assert Multilabel(path="x").scorer.errors(stats).tolist() == [0, 1, 3]
