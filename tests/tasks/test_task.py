"""What every task keeps to: one set of checks over the whole catalogue, and what the base does with parts and rows."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.likelihood import Likelihood
from niwaki.core import log
from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.models.forward import NO_LABEL
from niwaki.tasks import TASKS
from niwaki.tasks._language_model_task import LanguageModelTask
from niwaki.tasks._task import Task
from niwaki.tasks._test_languages import TestLanguages
from niwaki.tasks.choice import Choice
from niwaki.tasks.classification import Classification
from niwaki.tasks.question_answering import QuestionAnswering

from . import languages
from .formulas import FORMULAS, written
from .inventory import sentence, write_inventory, write_sets
from .rows import TEXTS, TOKENIZER, batch, counts, csv, folder, jsonl

WORDS = [text.split() for text in TEXTS]
BY_FORM = {
    "classification": [{"text": text, "label": n % 2} for n, text in enumerate(TEXTS)],
    "regression": [{"text": text, "label": n / 7} for n, text in enumerate(TEXTS)],
    "multilabel": [{"text": text, "labels": ["a", "b"][: n % 3]} for n, text in enumerate(TEXTS)],
    "tagging": [{"tokens": words, "tags": (["B-X", "O"] * 9)[: len(words)]} for words in WORDS],
    "question_answering": [
        {"title": f"t{n}", "question": "is it", "context": t, "answers": {"text": [t[:4].strip()], "answer_start": [0]}}
        for n, t in enumerate(TEXTS)
    ],
    "choice": [{"ctx": text, "endings": ["a film", "b"], "label": n % 2} for n, text in enumerate(TEXTS)],
    "senses": [sentence(n) for n in range(len(TEXTS))],
    "roles": [
        {
            "tokens": words,
            "predicates": [0],
            "rolesets": ["be.01"],
            "args": [{"predicate": 0, "start": 1, "end": 2, "label": "ARG1"}],
        }
        for words in WORDS
    ],
    "generation": [{"source": text, "target": text.upper(), "en": text, "de": text.upper()} for text in TEXTS],
}
WITHOUT_LABELS = ("blimp", "denoising", "language_modeling")  # tasks that language models answer with likelihoods
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
EMBEDDED = ("imdb", "rotten_tomatoes")


def built(name, tmp_path):
    kind = TASKS.load(name, Task)
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
        return kind(path=folder(tmp_path / name, train=UNLABELLED[kind.table.layout]), **own)
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
    assert all(text for text in task.texts(table)) and len(list(task.texts(table))) >= len(table)


def shape_of(task, given):
    """Of what a network would say: for every piece that is written, for every token, or once."""
    if task.answer == "text":
        return (*given.targets.shape, task.answer_type.target.get_vocab_size())
    return (*given.mask.shape, len(task.labels)) if task.answer_type.per_token else (len(given.mask), len(task.labels))


@pytest.mark.parametrize("name", [name for name in TASKS.names() if name not in WITHOUT_LABELS])
def test_every_tasks_losses_are_finite_and_agree_with_equal_logits(name, tmp_path):
    task = built(name, tmp_path)
    features = task.features(task.splits()["test"].slice(0, 6), TOKENIZER, 48)
    given = batch(features)
    logits = torch.randn(shape_of(task, given), generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = task.criterion.loss(logits, given)
    loss.backward()
    assert loss.ndim == 0 and loss.item() > 0 and logits.grad.isfinite().all() and logits.grad.abs().sum() > 0
    assert task.criterion.soft_loss(logits, logits, given, 2.0).item() == pytest.approx(0.0, abs=1e-5)
    assert task.criterion.soft_loss(logits, -logits, given, 2.0).item() > 0.01
    assert len(features) == len(features.lengths) == len(given.rows)


@pytest.mark.parametrize(
    "name", [name for name in WITHOUT_LABELS if name != "denoising"]
)  # its targets: test_denoising.py
def test_tasks_without_labels_have_no_targets_and_leave_the_loss_to_objectives(name, tmp_path):
    task = built(name, tmp_path)
    task.use_answer_type(Likelihood(scoring="causal"))
    features = task.features(task.splits()["test"].slice(0, 6), TOKENIZER, 48)
    assert len(features) == len(features.lengths) > 0 and (np.asarray(features.targets) == NO_LABEL).all()
    with pytest.raises(InputError, match=f"^train.objective: task '{name}' has no labels"):
        _ = task.criterion


def test_what_files_give_is_not_cut_out_of_the_train_rows(tmp_path):
    rows = [f"{text},{label}" for text, label in tiny.sentences(100)]
    csv(tmp_path / "train.csv", "text,label", rows[:60])
    csv(tmp_path / "validation.csv", "text,label", rows[60:80])
    built = counts(Classification(path=str(tmp_path)))  # what chooses the best weights must not judge them too
    assert built["test"] == 20 and built["train"] + built["validation"] == 60 and built["validation"] > 0
    csv(tmp_path / "test.csv", "text,label", rows[80:])
    assert counts(Classification(path=str(tmp_path))) == {"train": 60, "validation": 20, "test": 20}
    (tmp_path / "validation.csv").unlink()
    built = counts(Classification(path=str(tmp_path)))
    assert built["test"] == 20 and built["train"] + built["validation"] == 60


@pytest.mark.parametrize("header, cell", [("text,label", ",-1"), ("text,label", ","), ("text", "")])
@pytest.mark.parametrize("settings", [{}, {"text": "text", "label": "label"}], ids=["guessed", "named"])
def test_a_test_whose_labels_are_hidden_is_left_out_with_a_message(tmp_path, monkeypatch, header, cell, settings):
    predicted = []
    monkeypatch.setattr(log, "info", predicted.append)
    csv(tmp_path / "train.csv", "text,label", [f"{text},{label}" for text, label in tiny.sentences(60)])
    csv(tmp_path / "test.csv", header, [f"{text}{cell}" for text, _ in tiny.sentences(20, seed=5)])
    task = Classification(path=str(tmp_path), **settings)
    assert sum(counts(task).values()) == 60 and all(counts(task).values())
    assert predicted[0] == f"{tmp_path}: the test rows have no labels and are left out"


def test_a_test_with_columns_of_other_names_is_read_by_those(tmp_path):
    csv(tmp_path / "train.csv", "text,label", [f"{text},{label}" for text, label in tiny.sentences(60)])
    csv(tmp_path / "test.csv", "Text,Label", [f"{text},{label}" for text, label in tiny.sentences(20, seed=5)])
    assert counts(Classification(path=str(tmp_path)))["test"] == 20


def test_only_test_rows_are_rejected(tmp_path):
    csv(tmp_path / "test.csv", "text,label", [f"{text},{label}" for text, label in tiny.sentences(60)])
    with pytest.raises(InputError, match=r"the rows have no part 'train'; there is: test"):
        Classification(path=str(tmp_path)).splits()


def test_a_sample_of_the_train_rows_leaves_the_others_as_they_are(rows_csv):
    whole, some = Classification(path=str(rows_csv)), Classification(path=str(rows_csv), rows=40)
    assert counts(some) == {**counts(whole), "train": 40}
    assert set(some.inputs(some.splits()["train"])) < set(whole.inputs(whole.splits()["train"]))
    assert some.splits()["test"] == whole.splits()["test"]
    assert sorted(some.gold(some.splits()["train"])) == ["bad"] * 20 + ["good"] * 20
    assert counts(Classification(path=str(rows_csv), rows=10**6)) == counts(whole)


def test_a_sample_that_leaves_nothing_is_rejected(rows_csv, tmp_path):
    assert (
        Classification(path=str(rows_csv), rows=1).splits()["train"].num_rows == 1
    )  # too few for a share of each label
    with pytest.raises(InputError, match=r"^data\.rows: 1 of"):
        rows = [{**row, "context": "a film", "question": "is it"} for row in BY_FORM["question_answering"]]
        QuestionAnswering(path=jsonl(tmp_path / "x.jsonl", rows), rows=1).splits()


@pytest.mark.parametrize("requested", [7, 20, 60])
def test_rows_are_drawn_by_themselves_and_not_by_article(tmp_path, requested):
    """Two articles with all the questions would give none of the rows requested for, or half of all."""
    rows = [{**row, "title": f"article {n % 9}"} for n, row in enumerate(BY_FORM["question_answering"])]
    path = jsonl(tmp_path / "x.jsonl", rows)
    some, whole = QuestionAnswering(path=path, rows=requested), QuestionAnswering(path=path)
    assert (
        counts(some)["train"] == min(requested, counts(whole)["train"])
        and counts(some)["test"] == counts(whole)["test"]
    )
    assert some.splits()["train"].column_names == whole.splits()["train"].column_names
    assert set(some.inputs(some.splits()["train"])) <= set(whole.inputs(whole.splits()["train"]))


def test_parts_that_ask_for_different_things_are_rejected(tmp_path):
    pairs = [{"premise": text, "hypothesis": text[::-1], "label": n % 2} for n, text in enumerate(TEXTS)]
    single = [{"premise": row["premise"], "label": row["label"]} for row in pairs]
    for lacking, parts in (("test", (pairs, single)), ("train", (single, pairs))):
        path = folder(tmp_path / lacking, train=parts[0], test=parts[1])
        with pytest.raises(InputError, match=f"the {lacking} rows have no column for 'second', which others have"):
            Classification(path=path, text="premise", label="label").splits()


def test_a_named_text_brings_its_partner_and_what_is_read_is_given(tmp_path):
    pairs = [{"premise": text, "hypothesis": text[::-1], "label": n % 2} for n, text in enumerate(TEXTS)]
    path = jsonl(tmp_path / "my rows.jsonl", pairs)
    task = Classification(path=path, text="premise", label="label")
    assert task.splits()["train"].column_names == ["text", "second", "label"]
    assert task.data.remarks() == [f"{path}: classification, text: premise, second: hypothesis, label: label"]
    endings = Choice(
        path=jsonl(tmp_path / "x.jsonl", [{"ctx": t, "ending0": "a", "ending1": "b", "label": 0} for t in TEXTS])
    )
    assert endings.data.remarks()[0].endswith("choice, text: ctx, endings: ending0, ending1, label: label")


@pytest.mark.parametrize("form", BY_FORM)
def test_rows_that_are_trained_on_and_scored_on_are_given(tmp_path, form):
    rows = BY_FORM[form]
    write_inventory(tmp_path / "wordnet30")  # for senses
    kind = TASKS.load(form, Task)
    task = kind(path=folder(tmp_path / "both", train=rows[:60], validation=rows[60:], test=rows[55:58] + rows[58:]))
    each = 2 if form == "roles" else 1  # a sentence with a predicate is two rows
    overlap = f"{5 * each} of the {25 * each} test rows stand in the train rows too; a score on them says little."
    assert task.data.remarks()[1] == f"{task.path}: {overlap}"
    notes = [task.scorer.note()] if form in ("senses", "roles") else []  # how many words have the first sense
    assert task.data.caveats == " ".join([overlap, *notes]) and all(notes)
    apart = kind(path=folder(tmp_path / "apart", train=rows[:60], test=rows[60:]))
    assert len(apart.data.remarks()) == 1 and apart.data.caveats == "".join([apart.scorer.note()] if notes else [])


def test_pairs_overlap_where_both_texts_do(tmp_path):
    pairs = [{"premise": text, "hypothesis": f"number {n}", "label": n % 2} for n, text in enumerate(TEXTS)]
    turned = [{**row, "hypothesis": f"number {n + 1}"} for n, row in enumerate(pairs[:10])]
    task = Classification(path=folder(tmp_path / "x", train=pairs[:70], test=[*turned, *pairs[68:]]))
    assert "2 of the 22 test rows" in task.data.remarks()[1]


def test_a_named_task_tells_its_caveat_and_the_overlap(tmp_path):
    rows = BY_FORM["classification"]
    task = TASKS.load("wnli", Task)(path=folder(tmp_path / "wnli", train=rows[:60], validation=rows[58:]))
    assert task.data.caveats.startswith(task.published.caveat) and task.data.caveats.endswith(
        "a score on them says little."
    )
    assert len(task.data.remarks()) == 1  # its columns are its own


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


def test_the_fingerprint_changes_with_the_rows_and_not_with_where_they_lie(tmp_path, rows_csv):
    first = Classification(path=str(rows_csv)).data.fingerprint()
    assert Classification(path=str(rows_csv)).data.fingerprint() == first
    assert Classification(path=str(rows_csv), max_tokens=9).data.fingerprint() != first
    other = tmp_path / "other.csv"
    other.write_bytes(rows_csv.read_bytes())
    assert Classification(path=str(other)).data.fingerprint() == first
    other.write_text(rows_csv.read_text().replace("film", "plot", 1))
    assert Classification(path=str(other)).data.fingerprint() != first
