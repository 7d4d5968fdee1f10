"""Rows of a task: parts of files, hidden labels, samples, columns, remarks and fingerprints."""

import pytest

import tiny
from niwaki.core import log
from niwaki.core.errors import InputError
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.choice import Choice
from niwaki.tasks.classification import Classification
from niwaki.tasks.question_answering import QuestionAnswering

from .forms import BY_FORM
from .inventory import write_inventory
from .rows import TEXTS, counts, csv, folder, jsonl


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
    kind = TASKS.load({"images": "image_classification"}.get(form, form), Task)
    task = kind(path=folder(tmp_path / "both", train=rows[:60], validation=rows[60:], test=rows[55:58] + rows[58:]))
    each = 2 if form == "roles" else 1  # a sentence with a predicate is two rows
    overlap = f"{5 * each} of the {25 * each} test rows stand in the train rows too; a score on them says little."
    described = int(form != "images")  # whose columns are not guessed
    assert task.data.remarks()[described] == f"{task.path}: {overlap}"
    notes = [task.scorer.note()] if form in ("senses", "roles") else []  # how many words have the first sense
    assert task.data.caveats == " ".join([overlap, *notes]) and all(notes)
    apart = kind(path=folder(tmp_path / "apart", train=rows[:60], test=rows[60:]))
    assert len(apart.data.remarks()) == described and apart.data.caveats == "".join(
        [apart.scorer.note()] if notes else []
    )


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


def test_the_fingerprint_changes_with_the_rows_and_not_with_where_they_lie(tmp_path, rows_csv):
    first = Classification(path=str(rows_csv)).data.fingerprint()
    assert Classification(path=str(rows_csv)).data.fingerprint() == first
    assert Classification(path=str(rows_csv), max_tokens=9).data.fingerprint() != first
    other = tmp_path / "other.csv"
    other.write_bytes(rows_csv.read_bytes())
    assert Classification(path=str(other)).data.fingerprint() == first
    other.write_text(rows_csv.read_text().replace("film", "plot", 1))
    assert Classification(path=str(other)).data.fingerprint() != first
