"""Tags: targets at first tokens, entities as seqeval counts them, parts of speech word by word."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
import seqeval.metrics
import torch
from hypothesis import given
from hypothesis import strategies as some

from niwaki.core.errors import InputError
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.tagging import Tagging

from .rows import TEXTS, TOKENIZER, batch, folder, jsonl, only

BIO = ["B-PER", "I-PER", "O", "O", "B-LOC"]
UPOS = ["DET", "NOUN", "X", "PUNCT", "VERB"]


def task_on(tmp_path, names=BIO, *more, **settings):
    rows = [
        {"tokens": text.split(), "ner_tags": (names * 9)[: len(text.split())], "id": str(number)}
        for number, text in enumerate(TEXTS)
    ]
    return Tagging(path=jsonl(tmp_path / "rows.jsonl", [*rows, *more]), **settings)


def table_of(tags):
    return pa.table({"tags": pa.array(tags, pa.list_(pa.string()))})


def test_rows_and_labels(tmp_path):
    task = task_on(tmp_path)
    train = task.splits()["train"]
    assert task.labels == ["O", "B-LOC", "B-PER", "I-PER"]  # outside first, the others in order
    assert task.gold(train) == [(BIO * 9)[: len(words)] for words in task.inputs(train)]
    assert {" ".join(words) for table in task.splits().values() for words in task.inputs(table)} == set(TEXTS)


def test_numbers_for_tags_are_remaining_as_written(tmp_path):
    task = task_on(tmp_path, [0, 3, 3, 5, 0])
    assert task.labels == ["0", "3", "5"]


def test_targets_stand_at_the_first_token_of_each_word(tmp_path):
    task = task_on(tmp_path, max_tokens=8)
    words, tags = ["unlovely", "\u200b", "films", "good"], ["B-PER", "I-PER", "O", "B-NEW"]
    table = pa.table({"text": ["x"], "tokens": [words], "tags": [tags]})
    features = task.features(table, TOKENIZER, 16)  # the task's own 8 is less
    assert [TOKENIZER.id_to_token(int(number)) for number in features.rows.ids.values] == [
        "[CLS]",
        "un",
        "##l",
        "##o",
        "##v",
        "##e",
        "##ly",
        "[SEP]",
        "[CLS]",
        "film",
        "##s",
        "good",
        "[SEP]",
    ]
    number = {name: place for place, name in enumerate(task.labels)}
    none = NO_LABEL
    assert features.targets[0].tolist() == [none, number["B-PER"], *[none] * 6]
    assert features.targets[1].tolist() == [
        none,
        number["O"],
        none,
        none,
        none,
    ]  # a tag that train lacks teaches nothing


def test_gold_tags_come_back_from_targets(tmp_path):
    task = task_on(tmp_path, max_tokens=8)
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    assert len(features) > table.num_rows  # some sentences are cut
    logits = np.eye(len(task.labels))[np.maximum(features.targets.values, 0)]
    assert task.answer_type.values(logits, features.rows, task.inputs(table), task.labels) == task.gold(table)


def test_loss_by_hand(tmp_path):
    task = task_on(tmp_path)
    logits = torch.zeros((2, 3, 4), requires_grad=True)
    targets = torch.tensor([[NO_LABEL, 2, 0], [NO_LABEL, 1, NO_LABEL]])
    loss = task.criterion.loss(logits * torch.tensor([1.0, 1.0, 1.0, 1.0]), only(targets))
    assert loss.item() == pytest.approx(np.log(4))  # three words, each a choice of four
    loss.backward()
    assert logits.grad[targets == NO_LABEL].abs().sum() == 0 and (logits.grad[targets != NO_LABEL].abs() > 0).all()
    some_logits = torch.randn(2, 3, 4)
    expected = torch.nn.functional.cross_entropy(some_logits.transpose(1, 2), targets, ignore_index=NO_LABEL)
    assert task.criterion.loss(some_logits, only(targets)).item() == pytest.approx(expected.item(), rel=1e-6)
    logits.grad = None
    task.criterion.loss(logits, only(torch.full((2, 3), NO_LABEL))).backward()
    assert logits.grad.abs().sum() == 0


def test_soft_loss_is_over_the_words(tmp_path):
    task = task_on(tmp_path)
    teacher, student = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    targets = torch.tensor([[NO_LABEL, 2, 0], [NO_LABEL, 1, NO_LABEL]])
    by_word = [
        soft_cross_entropy(student[row, place][None], teacher[row, place][None], 2.0)
        for row, place in ((0, 1), (0, 2), (1, 1))
    ]
    found = task.criterion.soft_loss(student, teacher, only(targets), 2.0)
    assert found.item() == pytest.approx(torch.stack(by_word).mean().item(), rel=1e-5)


def test_soft_loss_by_hand(tmp_path):
    student, teacher = torch.zeros(1, 2, 2), torch.tensor([[[9.0, 0.0], [0.0, 2 * np.log(3.0)]]])
    at_two = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)
    found = task_on(tmp_path).criterion.soft_loss(student, teacher, only(torch.tensor([[NO_LABEL, 1]])), 2.0)
    assert found.item() == pytest.approx(4 * at_two, rel=1e-5)


@pytest.fixture(scope="module")
def entities(tmp_path_factory):
    return task_on(tmp_path_factory.mktemp("rows"), ["B-PER", "I-PER", "O", "B-LOC", "I-LOC"])


SENTENCE = some.lists(
    some.tuples(*[some.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])] * 2), min_size=1, max_size=8
)


@given(some.lists(SENTENCE, min_size=1, max_size=8))
def test_scores_of_entities_are_seqevals(entities, sentences):
    task = entities
    predicted, gold = ([[pair[side] for pair in sentence] for sentence in sentences] for side in (0, 1))
    scores = task.scorer.scores(task.scorer.example_stats(predicted, table_of(gold)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scores that are undefined
        expected = {
            "f1_entities": seqeval.metrics.f1_score(gold, predicted),
            "precision": seqeval.metrics.precision_score(gold, predicted),
            "recall": seqeval.metrics.recall_score(gold, predicted),
            "accuracy": seqeval.metrics.accuracy_score(gold, predicted),
        }
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    "tags", [UPOS, ["N", "V", ".", "E", "S"], ["0", "1", "2", "3", "4"], ["PER", "LOC", "O", "O", "ORG"]]
)
def test_where_tags_mark_no_stretches_every_word_counts(tmp_path, tags):
    task = task_on(tmp_path, tags)
    gold = [[tags[0], tags[0], tags[1]], [tags[2]]]
    scores = task.scorer.scores(task.scorer.example_stats([[tags[0], tags[1], tags[1]], [tags[2]]], table_of(gold)))
    assert scores == {"f1_entities": 0.75, "precision": 0.75, "recall": 0.75, "accuracy": 0.75}


@pytest.mark.parametrize(
    "tags", [BIO, ["B", "I", "O", "O", "B"], ["U-X", "O", "B-X", "L-X", "O"], ["S-X", "O", "B-X", "E-X", "X"]]
)
def test_where_tags_mark_stretches_whole_ones_count(tmp_path, tags):
    task = task_on(tmp_path, tags)
    gold = [(tags * 9)[:10]]
    predicted = [["O", *gold[0][1:]]]
    assert task.scorer.example_stats(predicted, table_of(gold))[0, 3:].tolist() == [9, 10]
    assert task.scorer.example_stats(predicted, table_of(gold))[0, 2] < 10  # entities, not words


@pytest.mark.parametrize(
    "more, message",
    [
        ({"tokens": ["a", "b"], "ner_tags": ["O"]}, "1 of the all rows have not as many tags as words"),
        ({"tokens": ["a", "b"], "ner_tags": []}, "1 of the all rows have not as many tags as words"),
        ({"tokens": ["a", "b"], "ner_tags": None}, "1 of the all rows have not as many tags as words"),
        ({"tokens": None, "ner_tags": ["O"]}, "1 of the all rows have not as many tags as words"),
        ({"tokens": ["a", None], "ner_tags": ["O", "O"]}, "words are missing in column 'tokens'"),
        ({"tokens": ["a", "b"], "ner_tags": ["O", None]}, "empty cells ('ner_tags' 1)"),
        ({"tokens": ["a", "b"], "ner_tags": ["O", ""]}, "empty cells ('ner_tags' 1)"),
    ],
)
def test_rows_that_cannot_be_used_are_rejected(tmp_path, more, message):
    with pytest.raises(InputError) as caught:
        task_on(tmp_path, BIO, more, tokens="tokens", tags="ner_tags").splits()
    assert message in str(caught.value)


def test_sentences_without_words_are_left_out(tmp_path):
    empty = [{"tokens": [], "ner_tags": []}, {"tokens": None, "ner_tags": None}]
    task = task_on(tmp_path, BIO, *empty)
    assert sum(table.num_rows for table in task.splits().values()) == len(TEXTS)


def test_columns_of_texts_are_rejected(tmp_path):
    path = jsonl(tmp_path / "x.jsonl", [{"tokens": "a b", "tags": "O O"}])
    with pytest.raises(InputError, match="column 'tokens' does not hold lists; give jsonl or parquet"):
        Tagging(path=path, tokens="tokens", tags="tags").splits()


def test_batches_of_sentences_of_unlike_length(tmp_path):
    task = task_on(tmp_path)
    features = task.features(task.splits()["test"], TOKENIZER)
    built = batch(features, [0, 1, 2])
    assert built.targets.shape == built.mask.shape
    assert (built.targets[built.mask == 0] == NO_LABEL).all() and ((built.targets != NO_LABEL).sum(1) > 0).all()


def test_predictions_of_a_file_and_parquet(tmp_path):
    rows = [{"tokens": text.split(), "tags": ["O", *["B-X"] * (len(text.split()) - 1)]} for text in TEXTS]
    task = Tagging(path=folder(tmp_path / "x", train=rows))
    assert task.labels == ["O", "B-X"] and task.scorer.parse_value("O B-X") == task.scorer.parse_value(
        ["O", "B-X"]
    ) == ["O", "B-X"]
