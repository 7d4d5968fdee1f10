"""Senses as a task: rows to questions, a loss over candidates, what lies beside the network, the named set."""

import math

import numpy as np
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet

import tiny
from niwaki.answers._sense_inventory import LEXFILES
from niwaki.answers.senses import Sentence, Target
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, Batch
from niwaki.tasks import _glosses as glosses
from niwaki.tasks import _sense_baselines as baselines
from niwaki.tasks._sense_inventories import irregular
from niwaki.tasks._sense_loss import FAR, Tables, any_right, candidate_scores
from niwaki.tasks.senses import Senses
from niwaki.tasks.wsd import Wsd

from .inventory import INVENTORY, key, sentence, write_inventory, write_sets, write_xml
from .rows import TOKENIZER, counts, jsonl, only

ROWS = [sentence(n) for n in range(40)]


@pytest.fixture
def task(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    return Senses(path=jsonl(tmp_path / "rows.jsonl", ROWS), glosses="words", dimensions=3)


def test_rows_and_what_is_asked_of_them(task):
    assert sum(counts(task).values()) == 40
    rows = task.splits()["train"]
    (first, *_), (gold, *_) = task.inputs(rows), task.gold(rows)
    assert first.targets == [Target(1, "film", "noun")] and first.words[1] == "film" and gold[0][0].startswith("film%1")
    assert len(task.labels) == 3 + LEXFILES + 3 and task.head.architecture == "TokenClassification"
    assert set(task.texts(rows)) >= {"film", "superb"}
    assert task.data.remarks()[0].endswith(
        "rows.jsonl: senses, tokens: tokens, lemmas: lemmas, pos: pos, senses: sense_keys"
    )


def test_sentences_in_which_nothing_is_asked_are_left_out(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    dumb = {"tokens": ["a"], "lemmas": ["a"], "pos": ["DET"], "instance_ids": [None], "sense_keys": [None]}
    assert sum(counts(Senses(path=jsonl(tmp_path / "rows.jsonl", [*ROWS, dumb]))).values()) == 40


# ── loss ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_targets_are_questions_at_first_tokens(task):
    features = task.features(task.splits()["train"], TOKENIZER)
    flat = features.targets.values
    asked = np.flatnonzero(flat != NO_LABEL)
    assert len(asked) == len(features) and (features.rows.ids.values[asked] == TOKENIZER.token_to_id("film")).all()
    assert set(flat[asked]) == {0, 1}  # the first sense is right, or the second
    assert list(task.criterion.questions.numbers) == sorted(
        task.criterion.questions.numbers, key=task.criterion.questions.numbers.__getitem__
    )
    assert {right for *_, right in task.criterion.questions.numbers} == {
        (True, False, False),
        (False, True, False),
    }  # verbs are candidates too


@pytest.mark.parametrize(
    ("lemma", "keys"),
    [("actor", [key("actor", "noun", 1)]), ("film", ["film%1:99:00::"]), ("bunk", ["bunk%1:01:00::"])],
    ids=["one sense", "a key that is not there", "an unknown lemma"],
)
def test_what_teaches_nothing_is_no_target(task, lemma, keys):
    assert task.criterion.questions.number(task.inventories.without_vectors, lemma, keys) == NO_LABEL


def dense(sense_inventory):
    dimensions = sense_inventory.vectors.codes.shape[1]
    found = np.zeros((len(sense_inventory.keys), dimensions + 45 + 3), dtype=np.float32)
    found[:, :dimensions] = sense_inventory.vectors.codes[sense_inventory.row] * sense_inventory.vectors.scale
    found[np.arange(len(found)), dimensions + sense_inventory.lexfile] = 1
    found[:, dimensions + LEXFILES :] = sense_inventory.prior
    return torch.from_numpy(found)


def test_scores_in_torch_are_products_with_vectors_written_out(task):
    sense_inventory = task.inventories.complete
    v = torch.randn(3, len(task.labels), generator=torch.Generator().manual_seed(0), requires_grad=True)
    sense_ranges = torch.tensor(
        [sense_inventory.candidates("film"), sense_inventory.candidates("plot"), sense_inventory.candidates("actor")]
    )
    found = candidate_scores(v, sense_ranges, Tables.of(sense_inventory, v.device))
    wanted = v @ dense(sense_inventory).T
    for row, (first, last) in enumerate(sense_ranges.tolist()):
        torch.testing.assert_close(found[row, : last - first], wanted[row, first:last])
        assert (found[row, last - first :] == FAR).all()
    owners = np.repeat(np.arange(3), (sense_ranges[:, 1] - sense_ranges[:, 0]).numpy())
    senses = np.concatenate([np.arange(*one) for one in sense_ranges.tolist()])
    by_numpy = sense_inventory.scores(v.detach().numpy(), owners, senses)  # as a deployment does
    np.testing.assert_allclose(by_numpy, wanted.detach().numpy()[owners, senses], rtol=1e-5)
    (found[found > FAR].sum()).backward()
    torch.testing.assert_close(v.grad[0], dense(sense_inventory)[slice(*sense_ranges[0].tolist())].sum(dim=0))


def test_the_loss_by_hand():
    """Two words: probabilities 1/4 and 3/4, where the second is right; three alike, of which two are right."""
    scores = torch.tensor([[0.0, math.log(3), FAR], [1.0, 1.0, 1.0]])
    right = torch.tensor([[False, True, False], [True, False, True]])
    assert any_right(scores, right).item() == pytest.approx((-math.log(3 / 4) - math.log(2 / 3)) / 2, rel=1e-5)


def test_the_loss_of_a_batch_sees_the_asked_tokens_alone(task):
    task.features(task.splits()["train"], TOKENIZER)
    targets = torch.full((2, 4), NO_LABEL)
    targets[0, 2], targets[1, 1] = 0, 1
    logits = torch.randn(2, 4, len(task.labels), generator=torch.Generator().manual_seed(1), requires_grad=True)
    loss = task.criterion.loss(logits, only(targets))
    first, last = task.inventories.complete.candidates("film")
    g = dense(task.inventories.complete)[first:last]
    right = [question[2].index(True) for question in task.criterion.questions.numbers]
    logs = [torch.log_softmax(g @ logits[place], dim=0)[right[n]] for n, place in enumerate([(0, 2), (1, 1)])]
    assert loss.item() == pytest.approx(-(logs[0] + logs[1]).item() / 2, rel=1e-5)
    loss.backward()
    touched = logits.grad.abs().sum(dim=-1) > 0
    assert touched.tolist() == (targets != NO_LABEL).tolist()


def test_soft_loss_is_none_of_equals_and_some_of_others(task):
    task.features(task.splits()["train"], TOKENIZER)
    targets = torch.tensor([[NO_LABEL, 0, 1]])
    one, other = torch.randn(2, 1, 3, len(task.labels), generator=torch.Generator().manual_seed(2))
    batch = only(targets)
    assert task.criterion.soft_loss(one, one, batch, 2.0).item() == pytest.approx(0, abs=1e-6)
    assert task.criterion.soft_loss(one, other, batch, 1.0).item() > 1e-4
    elsewhere = other.clone()
    elsewhere[0, 1:] = one[0, 1:]  # differs only where nothing is asked
    assert task.criterion.soft_loss(one, elsewhere, batch, 1.0).item() == pytest.approx(0, abs=1e-6)


def test_a_batch_in_which_nothing_is_asked_has_no_loss(task):
    logits = torch.randn(1, 2, len(task.labels), requires_grad=True)
    batch = Batch({}, torch.full((1, 2), NO_LABEL), torch.arange(1))
    loss = task.criterion.loss(logits, batch) + task.criterion.soft_loss(logits, logits.detach(), batch, 1.0)
    loss.backward()
    assert loss.item() == 0 and not logits.grad.any()


# ── knowledge ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_glosses_that_are_told_from_others_have_vectors(task):
    sense_inventory = task.inventories.complete
    assert (
        len(sense_inventory.vectors.codes) == 1 + 5
        and sense_inventory.row[sense_inventory.keys.index(key("actor", "noun", 1))] == 0
    )
    assert set(task.files()) == set(task.answer_type.required_files({}))


def test_irregular_forms_come_from_the_rows(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    odd = [
        sentence(n, words=("we", "flimmed", "it"), lemma="film", pos="VERB", keys=[key("film", "verb", 1)])
        for n in range(9)
    ]
    named = [sentence(n, words=("in", "Rome", "it"), keys=[key("film", "noun", 1)]) for n in range(9)]
    plural = [sentence(n, words=("two", "films", "it")) for n in range(9)]
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", [*odd, *named, *plural]))
    assert irregular(task.splits()["train"], task.inventories.without_vectors) == {("flimmed", "verb"): "film"}


def test_the_fingerprint_is_of_what_is_there_and_not_of_where(tmp_path):
    made = []
    for home, rows in (("a", INVENTORY), ("b", INVENTORY), ("c", INVENTORY[:-1])):
        write_inventory(tmp_path / home / "wordnet30", rows)
        path = jsonl(tmp_path / home / "rows.jsonl", ROWS)
        made.append(Senses(path=path, glosses="words").data.fingerprint())
    elsewhere = Senses(path=path, glosses="words", inventory=str(tmp_path / "a" / "wordnet30")).data.fingerprint()
    assert made[0] == made[1] == elsewhere != made[2]
    assert Senses(path=path, glosses="words", dimensions=7).data.fingerprint() != made[2]


def test_words_that_the_inventory_lacks_are_told_and_not_answered(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    odd = [sentence(n, lemma="bunk", keys=["bunk%1:01:00::"]) for n in range(3)]
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", [*ROWS, *odd]))
    assert any(
        "words of the train rows are not in the inventory (bunk, noun …)" in remark for remark in task.data.remarks()
    )
    target = Target(0, "bunk", "noun")
    assert baselines.first_sense(task.inventories.without_vectors, target) is None


def test_baselines(task):
    inputs = [Sentence(["film"], [Target(0, "film", "noun")])] * 3
    common = baselines.counted(inputs, [[["b"]], [["a", "b"]], [["a", "c"]]])
    assert common == {("film", "noun"): "b"}  # as often as a, and seen before it
    inventory = task.inventories.without_vectors
    assert baselines.most_frequent(inventory, common, inputs[0].targets[0]) == "b"
    assert baselines.most_frequent(inventory, common, Target(0, "plot", "noun")) == key("plot", "noun", 1)


def test_sentences_in_glosses_become_train_rows(tmp_path):
    """Of a lemma with several senses, under the first word that is a form of it; the other rows stay as they are."""
    shown = [
        (
            "film",
            "verb",
            1,
            2,
            36,
            'record; "they Filmed it and films rolled"; "a film"',
            [],
        ),  # a noun too, as its forms are
        ("film", "noun", 1, 5, 6, 'a movie; "nothing of it"; "ten movies"', []),
        ("actor", "noun", 1, 0, 18, 'one who acts; "an actor"', []),
        ("film_over", "verb", 1, 0, 1, 'x; "it flam over"', []),
        ("film_over", "verb", 2, 0, 1, "y", []),
    ]
    write_inventory(tmp_path / "wordnet30", shown)
    odd = [
        sentence(n, words=("it", "flam"), pos="VERB", keys=[key("film", "verb", 1)]) for n in range(9)
    ]  # a form to learn
    path = jsonl(tmp_path / "rows.jsonl", [*ROWS, *odd])
    bare, more = (Senses(path=path, glosses="words", examples=on).splits() for on in (False, True))
    added = more["train"].slice(bare["train"].num_rows).to_pylist()
    told = [(row["text"], row["words"], row["lemmas"], row["pos"], row["senses"]) for row in added]
    assert told == [
        ("they Filmed it and films rolled", [1], ["film"], ["verb"], [[key("film", "verb", 1)]]),
        ("a film", [1], ["film"], ["verb"], [[key("film", "verb", 1)]]),
        ("it flam over", [1], ["film_over"], ["verb"], [[key("film_over", "verb", 1)]]),
    ]
    assert added[2]["tokens"] == ["it", "flam over"] and added[1]["ids"] == ["film-verb-1.1"]
    assert more["train"].slice(0, bare["train"].num_rows) == bare["train"] and more["test"] == bare["test"]


# ── glosses ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_glosses_are_read_once_and_kept_by_content(tmp_path, monkeypatch, bert_folder):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = ["a film", "the very long plot of a film with a start and an end", "a plot"]
    first = glosses.encoded(str(bert_folder), texts)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-2)
    monkeypatch.setattr(glosses, "by_encoder", lambda *_: pytest.fail("was read before"))
    np.testing.assert_array_equal(glosses.encoded(str(bert_folder), texts), first)
    monkeypatch.setattr(glosses, "by_encoder", lambda folder, texts: np.ones((len(texts), 2)))
    assert glosses.encoded(str(bert_folder), texts[:2]).shape == (2, 2)  # other texts
    (kept,) = (
        path for path in (tmp_path / "niwaki" / "glosses").iterdir() if len(np.load(path, allow_pickle=False)) == 3
    )
    kept.write_bytes(kept.read_bytes()[:60])
    assert glosses.encoded(str(bert_folder), texts).shape == (3, 2)  # damaged: made again


def test_a_gloss_is_the_mean_of_its_last_states(bert_folder, monkeypatch):
    monkeypatch.setattr(glosses, "has_bf16", lambda: False)
    model = tiny.model("bert", ffn=256)
    found = glosses.by_encoder(bert_folder, ["a film", "the plot was very dull"])
    given = model.tokenizer(["the plot was very dull"], return_tensors="pt")
    with torch.no_grad():
        states = model.network(**given, output_hidden_states=True).hidden_states[-1][0].mean(dim=0).numpy()
    np.testing.assert_allclose(found[1], states / np.linalg.norm(states), atol=1e-4)


def test_reduced_keeps_distances_and_signs():
    vectors = np.random.default_rng(0).normal(size=(30, 3)) @ np.random.default_rng(1).normal(size=(3, 8))
    found = glosses.reduced(vectors.astype(np.float32), 5)
    assert found.shape == (30, 5) and np.abs(found[:, 3:]).max() < 1e-3  # three directions are all there is
    assert (found**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)
    apart = [np.linalg.norm(one[:, None] - one[None], axis=-1) for one in (vectors, found)]
    ratio = apart[0][apart[0] > 0] / apart[1][apart[0] > 0]
    assert ratio.std() / ratio.mean() < 1e-3
    assert glosses.reduced(vectors[:, :2], 4).shape == (30, 4)


def test_smoothed_by_hand():
    found = glosses.smoothed(np.array([[1.0, 0], [0, 1]]), [[], [0]], 1.0)
    np.testing.assert_allclose(found, [[1, 0], [0.5**0.5, 0.5**0.5]])


# ── the named set ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("as_xml", [(), ("senseval3", "semeval2007")], ids=["parquet", "some as XML"])
def test_the_five_sets_are_parted_as_the_field_does(tmp_path, as_xml):
    task = Wsd(path=write_sets(tmp_path, as_xml))
    assert counts(task) == {
        "train": 20,
        "validation": 4,
        "test": 2 + 3 + 5 + 6,
        "ALL": 20,
        "senseval2": 2,
        "senseval3": 3,
        "semeval2007": 4,
        "semeval2013": 5,
        "semeval2015": 6,
    }
    assert task.data.tests == ["test", "ALL", "semeval2007", "semeval2013", "semeval2015", "senseval2", "senseval3"]
    assert task.splits()["ALL"].column("ids").to_pylist()[0] == ["senseval2.t100"]
    assert "published tables give ALL" in task.data.caveats


def test_a_set_that_is_missing_is_named(tmp_path):
    write_sets(tmp_path)
    (tmp_path / "wsd_raganato" / "semeval2013.parquet").unlink()
    with pytest.raises(
        InputError, match=r"has no semeval2013\.parquet or semeval2013\.data\.xml, which task 'wsd' needs"
    ):
        Wsd(path=str(tmp_path)).splits()


def test_own_rows_as_xml(tmp_path):
    write_inventory(tmp_path / "wordnet30")
    write_xml(tmp_path, "mine", ROWS)
    task = Senses(path=str(tmp_path / "mine.data.xml"), glosses="words")
    assert sum(counts(task).values()) == 40 and task.inputs(task.splits()["test"])[0].targets[0].lemma == "film"


# ── what is refused ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**ROWS[0], "lemmas": ["a"]}, "row 41 of the all rows: tokens, lemmas, .* lists of the same length"),
        ({**ROWS[0], "tokens": ["the", "", "was", "superb", "x"]}, "row 41 of the all rows: a word is empty"),
        (
            {**ROWS[0], "pos": ["X"] * 5},
            r"word 2 \('film'\) has senses, and no lemma or no part of speech that has any \(X\)",
        ),
        ({**ROWS[0], "tokens": None}, "lists of the same length"),
    ],
)
def test_rows_that_are_none_are_refused_in_a_line(tmp_path, row, words):
    write_inventory(tmp_path / "wordnet30")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.Table.from_pylist([*ROWS, row]), path)
    with pytest.raises(InputError, match=words) as caught:
        Senses(path=str(path)).splits()
    assert "\n" not in str(caught.value)


def test_without_an_inventory_it_is_said_what_is_needed(tmp_path):
    task = Senses(path=jsonl(tmp_path / "rows.jsonl", ROWS))
    with pytest.raises(
        InputError, match=r"data\.inventory: needed for task 'senses' .* there is no 'wordnet30' next to"
    ):
        task.data.fingerprint()


def test_predictions_of_a_file_are_keys_with_spaces_or_a_list(task):
    assert task.scorer.parse_value("a b") == ["a", "b"] and task.scorer.parse_value(["a", None]) == ["a", None]
