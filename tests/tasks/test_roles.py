"""Roles: rows of sentences and of predicates, targets that give the gold back, scores by hand, faults named by their row."""

import copy

import numpy as np
import pytest

from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.roles import Roles

from .rows import TEXTS, TOKENIZER, folder, jsonl

SAT = {
    "tokens": ["The", "cat", "picked", "it", "up", "on", "Monday", "."],
    "predicates": [2],
    "rolesets": ["pick_up.04"],
    "args": [
        {"predicate": 0, "start": 0, "end": 2, "label": "ARG0"},
        {"predicate": 0, "start": 2, "end": 3, "label": "V"},
        {"predicate": 0, "start": 3, "end": 4, "label": "ARG1"},
        {"predicate": 0, "start": 4, "end": 5, "label": "C-V"},
        {"predicate": 0, "start": 5, "end": 7, "label": "AM-TMP"},
    ],
}
TAGS = ["B-ARG0", "I-ARG0", "S-04", "B-ARG1", "B-C-V", "B-ARGM-TMP", "I-ARGM-TMP", "O"]
BUILT = [
    {
        "tokens": text.split(),
        "predicates": [0, 1],
        "rolesets": ["be.01", "be.02"],
        "args": [{"predicate": n % 2, "start": 2 - n % 2 * 2, "end": 3 - n % 2 * 2, "label": "ARG1"}],
    }
    for n, text in enumerate(TEXTS)
    if len(text.split()) > 2
]


def task_on(tmp_path, *rows, **settings):
    return Roles(path=jsonl(tmp_path / "rows.jsonl", [*rows, *BUILT]), **settings)


def of(task, row):
    """Its rows, wherever they fell."""
    text = " ".join(row["tokens"])
    return next(
        found
        for table in task.splits().values()
        if (found := table.filter([one == text for one in table.column("text").to_pylist()])).num_rows
    )


def test_a_sentence_requests_for_its_predicates_and_each_predicate_for_its_roles(tmp_path):
    task = task_on(tmp_path, SAT)
    rows = of(task, SAT)
    assert task.inputs(rows) == [SAT["tokens"], (SAT["tokens"], 2)]
    assert task.gold(rows) == [
        ["O", "O", "P", "O", "O", "O", "O", "O"],
        TAGS,
    ]  # older names are read, the predicate has its sense
    assert task.data.remarks()[0].endswith(
        "roles, tokens: tokens, predicates: predicates, rolesets: rolesets, args: args"
    )
    assert set(task.texts(rows)) == set(SAT["tokens"])


def test_labels_and_what_the_model_will_know(tmp_path):
    task = Roles(path=folder(tmp_path / "x", train=[SAT, *BUILT[:40]], validation=BUILT[40:50], test=BUILT[50:60]))
    assert task.labels == [
        "O",
        "P",
        "B-ARG0",
        "B-ARG1",
        "B-ARGM-TMP",
        "B-C-V",
        "I-ARG0",
        "I-ARGM-TMP",
        "S-01",
        "S-02",
        "S-04",
    ]
    assert "picked pick_up.04" in task.answer_type.rolesets.splitlines()
    assert task.head.on({"model_type": "bert"})["niwaki_answer"]["kind"] == "roles"


def test_words_that_belong_to_the_predicate_go_on_with_it(tmp_path):
    row = {
        "tokens": ["it", "is", "going", "on", "now"],
        "predicates": [2],
        "rolesets": ["go_on.15"],
        "args": [{"predicate": 0, "start": 2, "end": 4, "label": "V"}],
    }
    assert task_on(tmp_path, row).gold(of(task_on(tmp_path, row), row))[1] == ["O", "O", "S-15", "B-C-V", "O"]


def test_what_tags_cannot_tell_counts_as_not_found(tmp_path):
    """An argument over the predicate's own word, and one over another's words."""
    row = copy.deepcopy(SAT)
    row["args"] += [
        {"predicate": 0, "start": 2, "end": 4, "label": "ARG2"},
        {"predicate": 0, "start": 0, "end": 1, "label": "ARG3"},
    ]
    task = task_on(tmp_path, row)
    rows = of(task, row)
    assert task.gold(rows)[1] == TAGS
    assert task.scorer.scores(task.scorer.example_stats(task.gold(rows), rows))["recall"] == pytest.approx(3 / 5)


def test_gold_tags_come_back_from_targets(tmp_path):
    task = task_on(tmp_path, max_tokens=24)
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    logits = np.eye(len(task.labels))[np.maximum(features.targets.values, 0)]
    assert (features.targets.values != NO_LABEL).sum() == sum(map(len, task.gold(table)))
    assert Roles(path=task.path).answer_type.model_copy(update={"rolesets": ""}).values(
        logits, features.rows, task.inputs(table), task.labels
    ) == task.gold(table)


def test_scores_by_hand(tmp_path):
    task = task_on(tmp_path, SAT)
    rows = of(task, SAT)
    predicted = [
        ["O", "P", "P", "O", "O", "O", "O", "O"],
        ["B-ARG0", "I-ARG0", "S-01", "B-ARG1", "O", "B-ARGM-LOC", "I-ARGM-LOC", "O"],
    ]
    example_stats = task.scorer.example_stats(predicted, rows)
    assert example_stats[:, :8].tolist() == [[0, 0, 0, 1, 2, 1, 0, 0], [2, 3, 3, 0, 0, 0, 0, 1]]
    scores = task.scorer.scores(example_stats)
    assert [scores[name] for name in ("f1_roles", "precision", "recall", "f1_predicates")] == pytest.approx([2 / 3] * 4)
    assert scores["accuracy_senses"] == 0.0
    with pytest.raises(ValueError, match="1 tags for 8 words"):
        task.scorer.example_stats([["O"], predicted[1]], rows)


def test_frequent_and_rare_senses_are_scored_apart(tmp_path):
    """Train rows: `ran` is run.02 three times and run.01 once, `sat` is sit.01 five times. The test rows have an unknown word twice: its first
    sense is 01, the most frequent number of all."""

    def row(word, roleset):
        return {"tokens": ["It", word], "predicates": [1], "rolesets": [roleset], "args": []}

    train = [row("ran", "run.02")] * 3 + [row("ran", "run.01")] + [row("sat", "sit.01")] * 5
    test = [row("Ran", "run.02"), row("ran", "run.01"), row("fell", "fall.01"), row("fell", "fall.03")]
    task = Roles(path=folder(tmp_path / "x", train=train, validation=test, test=test))
    rows = task.splits()["test"]
    requested = [number for number, predicate in enumerate(rows.column("predicate").to_pylist()) if predicate >= 0]
    assert task.scorer.has_first_sense(rows)[requested].tolist() == [True, False, True, False]
    assert task.scorer.note().endswith("and others: test 2 and 2.")

    always_first = [["O", "P"] if at < 0 else ["O", "S-02"] for at in rows.column("predicate").to_pylist()]
    scores = task.scorer.scores(task.scorer.example_stats(always_first, rows))
    assert scores["accuracy_senses"] == 0.25
    assert (scores["accuracy_first_sense"], scores["accuracy_other_senses"]) == (0.5, 0.0)


def test_sets_of_heads_are_scored_by_heads(tmp_path):
    """`The cat` is one word short of the whole subject; its head is right all the same."""
    row = {
        "tokens": ["The", "old", "cat", "sat"],
        "predicates": [3],
        "rolesets": ["sit.01"],
        "head": [3, 3, 4, 0],
        "args": [{"predicate": 0, "token": 2, "label": "A0"}],
    }
    task = Roles(
        path=jsonl(tmp_path / "rows.jsonl", [{**row, "tokens": [*row["tokens"][:3], f"sat{n}"]} for n in range(40)])
    )
    rows = task.splits()["test"].slice(0, 2)
    assert task.gold(rows)[1] == ["O", "O", "B-ARG0", "S-01"]
    predicted = [["O", "O", "O", "P"], ["O", "B-ARG0", "I-ARG0", "S-01"]]
    assert task.scorer.scores(task.scorer.example_stats(predicted, rows))["f1_roles"] == 1.0
    assert (
        task.scorer.scores(task.scorer.example_stats([predicted[0], ["B-ARG0", "I-ARG0", "O", "S-01"]], rows))[
            "f1_roles"
        ]
        == 0.0
    )


def test_heads_and_stretches_in_one_file(tmp_path):
    """A column of arguments then has all the fields, empty where they do not apply; each sentence is scored its own way."""
    heads = {
        "tokens": ["Cats", "sat"],
        "predicates": [1],
        "rolesets": ["sit.01"],
        "args": [{"predicate": 0, "token": 0, "label": "A0"}],
    }
    task = task_on(tmp_path, {**heads, "head": [2, 0]}, {**SAT, "head": [2, 3, 0, 3, 3, 7, 3, 3]})
    assert of(task, heads).column("heads").to_pylist() == [[2, 0], [2, 0]]
    assert of(task, SAT).column("heads").to_pylist() == [[], []] and task.gold(of(task, SAT))[1] == TAGS


def changed(**how):
    row = copy.deepcopy(SAT)
    row |= {key: value for key, value in how.items() if key in row}
    row["args"][0] |= {key: value for key, value in how.items() if key not in row}
    return row


@pytest.mark.parametrize(
    "row, message",
    [
        (changed(predicates=[9]), "has a predicate at word 9, and 8 words; they are counted from 0"),
        (changed(predicates=[-1]), "has a predicate at word -1"),
        (changed(predicates=[2, 3]), "has 2 predicates and 1 rolesets; give one for each"),
        (changed(predicates=[2, 2], rolesets=["a.01", "a.02"]), "a word is a predicate twice"),
        (changed(rolesets=["pick"]), "roleset 'pick' is not a lemma, a full stop and a number (sit.01)"),
        (changed(rolesets=[""]), "roleset '' is not"),
        (changed(rolesets=["pick up.04"]), "roleset 'pick up.04' is not"),
        (changed(tokens=["The", "", "sat"]), "word 2 is empty"),
        (changed(start=3, end=3), "argument ARG0 goes from 3 to 3 in 8 words"),
        (changed(end=9), "argument ARG0 goes from 0 to 9"),
        (changed(label=""), "an argument's label is ''"),
        (changed(label="A 0"), "an argument's label is 'A 0'"),
        (changed(predicate=1), "argument ARG0 is of predicate 1, and there are 1"),
    ],
)
def test_rows_that_cannot_be_are_named(tmp_path, row, message):
    with pytest.raises(InputError) as caught:
        task_on(tmp_path, row).splits()
    assert f"row 1 of all: {message}" in str(caught.value) and "\n" not in str(caught.value)


def test_sentences_without_words_or_predicates(tmp_path):
    bare = {"tokens": ["Hello", "."], "predicates": [], "rolesets": [], "args": []}
    task = task_on(tmp_path, bare, {**bare, "tokens": []})
    assert task.inputs(of(task, bare)) == [["Hello", "."]]
    silent = [{**bare, "tokens": [f"Hello{n}", "."]} for n in range(60)]
    with pytest.raises(InputError, match="the train rows have no predicate"):
        _ = Roles(path=folder(tmp_path / "x", train=silent, validation=BUILT[:1], test=BUILT[:1])).labels
