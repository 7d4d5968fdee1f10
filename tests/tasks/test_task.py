"""What every task keeps to: one set of checks over the whole catalogue, and what the base does with parts and rows."""

import numpy as np
import pytest
import torch

from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._from_config import answer_type_of
from niwaki.answers._images import ImageInputs
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.models.forward import NO_LABEL
from niwaki.tasks import TASKS
from niwaki.tasks._inverse_task import InverseTask
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._task import Task
from niwaki.tasks._test_languages import TestLanguages
from niwaki.tasks.classification import Classification

from . import languages
from .forms import BY_FORM, WORDS
from .formulas import FORMULAS, written
from .inventory import write_inventory, write_sets
from .rows import PREPROCESSOR, TEXTS, TOKENIZER, batch, counts, folder

WITHOUT_LABELS = ("blimp", "denoising", "language_modeling", "sentence_embedding")  # tasks on plain texts
TWO_SENTENCES = [{"text": f"{text.capitalize()} {text.capitalize()}"} for text in TEXTS]
UNLABELLED = {
    "minimal_pairs": [
        {"sentence_good": text, "sentence_bad": f"of {text}", "UID": f"paradigm {n % 3}"}
        for n, text in enumerate(TEXTS)
    ],
    "language_modeling": [{"text": text} for text in TEXTS],
}  # not in BY_FORM: one is scored without training, and the other leaves copies of documents out instead of counting them
PERFECT = {
    "blimp": [0.0, -1.0],  # the good sentence is likelier
    "denoising": [0.0, 5],
    "language_modeling": [0.0, 5],  # five tokens, each with probability 1
}  # cells of answers with the best score, where no label gives one
LANGUAGES = ("panx", "pawsx", "xnli", "xquad", "xsid")
NOT_ON_THE_HUB = (
    "atis",
    "blimp",
    "cogs",
    "geoquery",
    "multi30k",
    "propbank_ewt",
    "scan",
    "wsd",
    *LANGUAGES,
)  # in this form
EMBEDDED = ("digits", "imdb", "rotten_tomatoes")


def built(name, tmp_path):
    kind = TASKS.load(name, Task)
    if issubclass(kind, InverseTask):
        return kind(pairs=100, evaluation_pairs=20)
    if name in EMBEDDED:
        return kind(rows=200)
    if kind.table.layout == "senses":
        write_sets(tmp_path) if kind.published.folder else write_inventory(tmp_path / "wordnet30")
        small = {"glosses": "words", "dimensions": 4}
        return kind(
            path=str(tmp_path) if kind.published.folder else folder(tmp_path / name, train=BY_FORM["senses"]), **small
        )
    if name in FORMULAS:
        parts, columns = FORMULAS[name]
        rows = [{**columns, **row} for row in written(name, WORDS)]
        return kind(path=folder(tmp_path / name, **dict.fromkeys(parts, rows)))
    if issubclass(kind, TestLanguages):
        return kind(path=languages.write(tmp_path, name, BY_FORM))
    if name in WITHOUT_LABELS:
        small = {"cache": str(tmp_path / "tokens"), "validation": 0.1, "test": 0.1}  # 1 % of few texts is none
        own = {} if name == "blimp" else small
        rows = TWO_SENTENCES if name == "sentence_embedding" else UNLABELLED[kind.table.layout]
        return kind(path=folder(tmp_path / name, train=rows), **own)
    parts = dict.fromkeys(
        ["train", *kind.published.evaluation_splits.values()] if kind.published.evaluation_splits else ["train"],
        BY_FORM[kind.table.layout],
    )
    return kind(path=folder(tmp_path / name, **parts))


@pytest.mark.parametrize("name", TASKS.names())
def test_every_task_says_what_it_is(name):
    kind = TASKS.load(name, Task)
    task = check(kind, {})
    assert TASKS.entry(name).description and task.description and task.name == name
    assert ANSWERS.entry(kind.answer) and kind.table.layout in (UNLABELLED if name in WITHOUT_LABELS else BY_FORM)
    assert issubclass(kind, LanguageModelTask) == (name in WITHOUT_LABELS)
    assert all(field.description for field in kind.model_fields.values())
    assert set(kind.table.roles) <= {*kind.model_fields, *(kind.published.columns if name in WITHOUT_LABELS else ())}
    assert bool(kind.published.folder) <= (
        bool(kind.published.hub_id) or name in NOT_ON_THE_HUB
    )  # who has a folder of its own is there too


def best_answers(task, table):
    """The labels, or what a perfect language model answers."""
    if task.name in WITHOUT_LABELS:
        assert task.gold(table) == [None] * len(table)
        if task.name == "sentence_embedding":  # a dimension of its own for each document
            documents = table.column("document").to_numpy()
            return np.eye(documents.max() + 1)[documents].tolist()
        return [task.scorer.parse_value(PERFECT[task.name])] * len(table)
    golds = [gold[0] if task.answer == "span" else gold for gold in task.gold(table)]
    assert [task.scorer.parse_value(gold) for gold in golds] == golds
    return golds


@pytest.mark.parametrize("name", TASKS.names())
def test_every_task_goes_from_rows_to_scores(name, tmp_path):
    task = built(name, tmp_path)
    assert set(counts(task)) >= {"train", "validation", "test"} and task.data.tests[0] == "test"
    for part in task.splits():
        table = task.splits()[part].slice(0, 9)
        golds = best_answers(task, table)
        example_stats = task.scorer.example_stats(golds, table)
        assert example_stats.ndim == 2 and len(example_stats) == len(table) == len(task.inputs(table))
        scores = task.scorer.scores(example_stats)
        assert scores[task.metric] == pytest.approx(1.0)  # right answers have the best score
        assert all(isinstance(value, float) for value in scores.values())
    kinds = [
        answer_type_of(task.head.on({"model_type": "bert"}), "here"),
        task.answer_type,
        check(ANSWERS.load(task.answer, AnswerType), task.answer_type.model_dump()),
    ]
    assert kinds[0].to_json() == kinds[1].to_json() == kinds[2].to_json()
    texts = list(task.texts(table))
    assert texts == [] if reads_images(task) else all(texts) and len(texts) >= len(table)


def reads_images(task):
    return isinstance(task.answer_type, ImageInputs)


def shape_of(task, given):
    """Of what a network would say: for every piece that is written, for every token, or once."""
    if task.answer in ("text", "verified", "image_caption"):
        return (*given.targets.shape, task.answer_type.target.get_vocab_size())
    return (*given.mask.shape, len(task.labels)) if task.answer_type.per_token else (len(given.mask), len(task.labels))


@pytest.mark.parametrize("name", [name for name in TASKS.names() if name not in WITHOUT_LABELS])
def test_every_tasks_losses_are_finite_and_agree_with_equal_logits(name, tmp_path):
    task = built(name, tmp_path)
    tokenizer = PREPROCESSOR if reads_images(task) else TOKENIZER
    features = task.features(task.splits()["test"].slice(0, 6), tokenizer, 48)
    given = batch(features)
    logits = torch.randn(shape_of(task, given), generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = task.criterion.loss(logits, given)
    loss.backward()
    assert loss.ndim == 0 and loss.item() > 0 and logits.grad.isfinite().all() and logits.grad.abs().sum() > 0
    assert task.criterion.soft_loss(logits, logits, given, 2.0).item() == pytest.approx(0.0, abs=1e-5)
    assert task.criterion.soft_loss(logits, -logits, given, 2.0).item() > 0.01
    assert len(features) == len(features.lengths) == len(given.rows)


@pytest.mark.parametrize(
    "name", [name for name in WITHOUT_LABELS if name not in ("denoising", "sentence_embedding")]
)  # their targets: test_denoising.py, test_sentence_embedding.py
def test_tasks_without_labels_have_no_targets_and_leave_the_loss_to_objectives(name, tmp_path):
    task = built(name, tmp_path)
    task.use_answer_type(Likelihood(scoring="causal"))
    features = task.features(task.splits()["test"].slice(0, 6), TOKENIZER, 48)
    assert len(features) == len(features.lengths) > 0 and (np.asarray(features.targets) == NO_LABEL).all()
    with pytest.raises(InputError, match=f"^train.objective: task '{name}' has no labels"):
        _ = task.criterion


def test_the_tokens_of_a_task_and_of_a_model_limit_both(rows_csv):
    table = Classification(path=str(rows_csv)).splits()["train"]
    longest = [
        int(Classification(path=str(rows_csv), max_tokens=own).features(table, TOKENIZER, other).lengths.max())
        for own, other in ((8, None), (8, 60), (60, 9), (60, None))
    ]
    assert longest[:3] == [8, 8, 9] and longest[3] > 9


def test_features_of_many_slices_are_those_of_one(rows_csv, monkeypatch):
    task = Classification(path=str(rows_csv))
    table = task.splits()["train"]
    whole, texts = task.features(table, TOKENIZER), list(task.texts(table))
    monkeypatch.setattr("niwaki.tasks._tables.SLICE", 7)
    parts = task.features(table, TOKENIZER)
    assert np.array_equal(parts.rows.ids.values, whole.rows.ids.values) and list(task.texts(table)) == texts
    assert np.array_equal(parts.targets, whole.targets) and texts == table.column("text").to_pylist()
