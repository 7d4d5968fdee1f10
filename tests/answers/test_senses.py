"""Senses: plain sentences to lemmas, candidates as stretches, scores by hand, and the files beside a network."""

import numpy as np
import pyarrow as pa
import pytest

import tiny
from niwaki.answers._lemmas import base_forms
from niwaki.answers._sense_inventory import LEXFILES, SenseInventory, Vectors, labels, numbered, priors, sense_ranges
from niwaki.answers.senses import Senses, Sentence, Target, meaning, tokens_of
from niwaki.core.errors import InputError
from niwaki.data.wordnet import SENSES

# lemma, part of speech, number, how often seen, lexicographer file
INVENTORY = [
    ("bank", "verb", 1, 0, 35),
    ("bank", "noun", 2, 20, 14),
    ("bank", "noun", 1, 25, 17),
    ("grand_jury", "noun", 1, 4, 14),
    ("jury", "noun", 1, 9, 14),
    ("sit", "verb", 1, 30, 35),
    ("leaf", "noun", 1, 9, 20),
    ("leave", "verb", 1, 9, 38),
    ("leave", "noun", 1, 2, 28),
    ("sit_up", "verb", 1, 2, 35),
    ("low", "adj", 1, 5, 0),
]
DIGIT = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def key(lemma, pos, number):
    return f"{lemma}%{DIGIT[pos]}:{number:02d}:00::"


@pytest.fixture
def sense_inventory():
    rows = [
        {
            "sense_key": key(lemma, pos, n),
            "lemma": lemma,
            "pos": pos,
            "synset": f"{lemma}-{pos}-{n}",
            "sense_number": n,
            "tag_count": seen,
        }
        for lemma, pos, n, seen, _ in INVENTORY
    ]
    synsets = [
        {"synset": row["synset"], "lexfile": file, "gloss": f'the {row["lemma"]}; "a {row["lemma"]}"'}
        for row, (*_, file) in zip(rows, INVENTORY, strict=True)
    ]
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)  # of the three senses of bank
    packed = Vectors.packed(vectors, np.array([0, 1, 2]), len(rows))
    forms = {("sat", "verb"): "sit", ("leaves", "noun"): "leaf"}
    return SenseInventory(pa.Table.from_pylist(rows, SENSES), pa.Table.from_pylist(synsets), forms, packed)


# ── the inventory ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_candidates_are_stretches_in_the_order_of_the_inventory(sense_inventory):
    assert [sense_inventory.keys[n] for n in range(*sense_inventory.candidates("bank"))] == [
        key("bank", "noun", 1),
        key("bank", "noun", 2),
        key("bank", "verb", 1),
    ]
    assert [sense_inventory.keys[n] for n in range(*sense_inventory.candidates("bank", "verb"))] == [
        key("bank", "verb", 1)
    ]
    first, last = sense_inventory.candidates("bank", "adj")
    assert first == last and sense_inventory.candidates("bunk") == (0, 0)
    assert sense_inventory.keys.index(key("bank", "noun", 2)) == sense_inventory.candidates("bank")[0] + 1


def test_stretches_by_hand():
    lemmas = ["a", "a", "a", "b"]
    assert numbered(lemmas).tolist() == [0, 0, 0, 1] and numbered([]).tolist() == []
    found = sense_ranges(lemmas, numbered(lemmas), np.array([0, 0, 3, 1]))
    assert found == {"a": (0, 2, 2, 2, 3), "b": (3, 3, 4, 4, 4)}


def test_priors_by_hand():
    """A lemma seen 3 and 0 times, and another's only sense."""
    found = priors(np.array([3, 0, 7]), np.array([1, 2, 1]), np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [[np.log(3.5 / 4), 1, 1], [np.log(0.5 / 4), 0, 0.5], [0, 1, 1]], rtol=1e-6)


def test_vectors_in_8_bits_are_near_and_what_needs_none_is_zero():
    vectors = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
    packed = Vectors.packed(vectors, np.array([1, 2, 4, 5, 6]), 7)
    assert (
        np.abs(packed.codes[packed.rows[[1, 2, 4, 5, 6]]] * packed.scale - vectors).max() <= packed.scale[0] / 2 + 1e-6
    )
    assert not packed.codes[packed.rows[[0, 3]]].any() and packed.codes.dtype == np.int8


def test_scores_are_products_with_vectors_written_out(sense_inventory):
    dense = np.zeros((len(sense_inventory.keys), len(labels(4))))
    dense[:, :4] = sense_inventory.vectors.codes[sense_inventory.row] * sense_inventory.vectors.scale
    dense[np.arange(len(dense)), 4 + sense_inventory.lexfile] = 1
    dense[:, 4 + LEXFILES :] = sense_inventory.prior
    v = np.random.default_rng(2).normal(size=(3, len(labels(4)))).astype(np.float32)
    owners, senses = np.array([0, 0, 1, 2, 2]), np.array([0, 3, 1, 2, 9])
    np.testing.assert_allclose(
        sense_inventory.scores(v, owners, senses), (v[owners] * dense[senses]).sum(axis=1), rtol=1e-5
    )
    assert len(labels(4)) == 4 + 45 + 3


# ── words to lemmas ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("word", "pos", "lemma"),
    [
        ("dogs", "noun", "dog"),
        ("churches", "noun", "church"),
        ("boxes", "noun", "box"),
        ("ladies", "noun", "lady"),
        ("women", "noun", "woman"),
        ("boxesful", "noun", "boxful"),
        ("making", "verb", "make"),
        ("walked", "verb", "walk"),
        ("tries", "verb", "try"),
        ("finer", "adj", "fine"),
        ("tallest", "adj", "tall"),
        ("sat", "verb", "sit"),
    ],
)
def test_detachment(word, pos, lemma):
    assert lemma in list(base_forms(word, pos, {("sat", "verb"): "sit"}))


def test_each_part_of_speech_that_a_word_can_be(sense_inventory):
    assert sense_inventory.lemmas.of("banks") == (("bank", "noun"), ("bank", "verb"))
    assert sense_inventory.lemmas.of("leaves") == (("leaf", "noun"), ("leave", "noun"), ("leave", "verb"))
    assert sense_inventory.lemmas.of("xyzzy") == sense_inventory.lemmas.of("") == ()
    assert sense_inventory.lemmas.of_text("the") == () and sense_inventory.lemmas.of_text("Sat up") == (
        ("sit_up", "verb"),
    )


def test_neighbours_that_are_one_lemma_are_one_word(sense_inventory):
    words = ["The", "grand", "juries", "sat", "up", ",", "jury", "grand"]
    assert sense_inventory.lemmas.joined(words) == ["The", "grand juries", "sat up", ",", "jury", "grand"]


def test_a_plain_sentence(sense_inventory):
    found = Senses.with_inventory(lambda: sense_inventory).check("The Grand Jury sat on its leaves, low.")
    assert found.words == ["The", "Grand Jury", "sat", "on", "its", "leaves", ",", "low", "."]
    assert [(one.word, one.lemma) for one in found.targets] == [
        (1, "grand_jury"),
        (2, "sit"),
        (5, "leaf leave"),
        (7, "low"),
    ]
    forms = (("leaf", "noun"), ("leave", "noun"), ("leave", "verb"))
    assert found.targets[2].sense_ranges == tuple(sense_inventory.candidates(*one) for one in forms)


def test_words_that_are_told_are_asked_as_told(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    given = (["The", "banks", "sat"], ["the", "Bank", "sit"], ["DET", "NOUN", "ADV"])
    assert kind.check(given) == Sentence(["The", "banks", "sat"], [Target(1, "bank", "noun")])
    assert kind.check(["a", "bank"]).targets[0].word == 1
    assert kind.check(kind.check(given)) == kind.check(given)


def test_columns_of_a_table():
    kind = Senses()
    assert kind.columns(["id", "tokens", "lemmas", "pos"]) == [["tokens", "lemmas", "pos"]]
    assert kind.columns(["tokens", "id"]) == [["tokens"]] and kind.columns(["text", "pos"]) == [["text"]]


def test_odd_sentences_are_no_fault(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    assert kind.check("日本語 \u0300 naïve…").targets == []
    assert len(kind.check("bank " * 3000).targets) == 3000


# ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def logits_for(sense_inventory, rows, inputs, sense):
    """A network that is sure of one sense's lexicographer file at every word."""
    logits = np.zeros((len(rows.ids.values), len(labels(4))), dtype=np.float32)
    logits[:, 4 + sense_inventory.lexfile[sense_inventory.keys.index(sense)]] = 9
    return logits


def test_only_senses_of_the_lemma_and_its_part_of_speech_are_said(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    tokenizer = tiny.tokenizer().backend_tokenizer
    inputs = [
        Sentence(
            ["a", "bank", "sat"], [Target(1, "bank", "noun"), Target(2, "sit", "verb"), Target(0, "bunk", "noun")]
        ),
        Sentence(["bank"], [Target(0, "bank")]),
        Sentence(["the"], []),
    ]
    rows = kind.encode(inputs, tokenizer, 64)
    verb = key("bank", "verb", 1)
    values = kind.values(logits_for(sense_inventory, rows, inputs, verb), rows, inputs, [])
    assert values[0][1:] == [key("sit", "verb", 1), None] and values[0][0] in (
        key("bank", "noun", 1),
        key("bank", "noun", 2),
    )
    assert values[1:] == [[verb], []]
    said = kind.answers(logits_for(sense_inventory, rows, inputs, verb), rows, inputs, [])
    assert said[1].senses[0] | {"probability": 1} == {
        "word": 0,
        "text": "bank",
        "lemma": "bank",
        "pos": "verb",
        "sense": verb,
        "synset": "bank-verb-1",
        "gloss": 'the bank; "a bank"',
        "probability": 1,
        "candidates": 3,
    }
    assert said[1].senses[0]["probability"] > 0.99 and said[0].senses[2]["sense"] is None
    assert "bank [bank%2:01:00:: the bank 1.00]" in str(said[1])
    assert kind.values(np.zeros((0, len(labels(4))), np.float32), kind.encode([], tokenizer, 64), [], []) == []


def test_a_word_without_tokens_gets_the_first_sense(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    inputs = [Sentence(["\u200b", "bank"], [Target(0, "bank", "noun")])]
    rows = kind.encode(inputs, tiny.tokenizer().backend_tokenizer, 64)
    assert tokens_of(rows, inputs).tolist() == [-1]
    assert kind.values(np.ones((len(rows.ids.values), len(labels(4))), np.float32), rows, inputs, []) == [
        [key("bank", "noun", 1)]
    ]


def test_places_of_words_in_a_sentence_that_is_cut(sense_inventory):
    """The first token of a word, whichever piece it lies in."""
    words = ["film"] * 40 + ["bank"] + ["plot"] * 10
    inputs = [Sentence(["a"], []), Sentence(words, [Target(40, "bank", "noun"), Target(0, "jury", "noun")])]
    tokenizer = tiny.tokenizer().backend_tokenizer
    rows = Senses().encode(inputs, tokenizer, 16)
    bank, film = tokens_of(rows, inputs)
    assert len(rows.ids) > 4
    assert rows.ids.values[film] == tokenizer.token_to_id("film")
    assert rows.ids.values[bank] == tokenizer.token_to_id("b") and rows.ids.values[bank + 1] == tokenizer.token_to_id(
        "##a"
    )


def test_meaning_leaves_examples_out():
    assert meaning('sloping land; "they sat"; "he"') == "sloping land" and meaning("tip; turn") == "tip; turn"


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_what_is_written_is_read_again(sense_inventory, tmp_path):
    again = SenseInventory.from_folder(write(tmp_path, sense_inventory.to_files()))
    assert (
        again.keys == sense_inventory.keys
        and again.forms == sense_inventory.forms
        and again.gloss(2) == sense_inventory.gloss(2)
    )
    for name in ("row", "prior", "lexfile", "synset"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sense_inventory, name))
    assert again.to_files() == sense_inventory.to_files()


def test_a_kind_is_opened_only_for_its_own_network(sense_inventory, tmp_path):
    write(tmp_path, sense_inventory.to_files())
    assert Senses().load_files(tmp_path, labels(4)).sense_inventory.keys == sense_inventory.keys
    with pytest.raises(InputError, match="are not of one model"):
        Senses().load_files(tmp_path, labels(5))
    with pytest.raises(InputError, match="was not loaded"):
        Senses().check("a bank")


@pytest.mark.parametrize("name", sorted(Senses.required_files({})))
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "other bytes"])
def test_a_damaged_file_is_named_in_a_line(sense_inventory, tmp_path, name, how):
    files = sense_inventory.to_files()
    write(tmp_path, files)
    spoilt = {"empty": b"", "cut": files[name][: len(files[name]) // 2], "other bytes": b"\x80" * 200}
    if how == "missing":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(spoilt[how])
    with pytest.raises(InputError, match=name) as caught:
        SenseInventory.from_folder(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "rows", "scale", "words"),
    [
        (np.zeros((2, 4), np.int8), np.full(11, 7, np.int32), [1.0], "is not among the 2 there are"),
        (np.zeros((2, 4), np.int8), np.full(11, -1, np.int32), [1.0], "is not among the 2 there are"),
        (np.zeros((2, 4), np.int8), np.zeros(10, np.int32), [1.0], "row of each of the 11 synsets"),
        (np.zeros((2, 4), np.float32), np.zeros(11, np.int32), [1.0], "must hold codes"),
        (np.zeros((2, 4), np.int8), np.zeros(11, np.int32), [np.inf], "one finite number"),
        (np.zeros((0, 4), np.int8), np.zeros(11, np.int32), [1.0], "is not among the 0"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(sense_inventory, tmp_path, codes, rows, scale, words):
    from safetensors.numpy import save

    write(tmp_path, sense_inventory.to_files())
    made = {"codes": codes, "rows": rows, "scale": np.array(scale, np.float32)}
    (tmp_path / "glosses.safetensors").write_bytes(save(made))
    with pytest.raises(InputError, match=words):
        SenseInventory.from_folder(tmp_path)


def test_how_sure_is_the_least_sure_word_among_its_candidates(sense_inventory):
    """At every word 1.5 for the lexicographer file of the first noun: its sense has e^1.5 times the share of others."""
    kind, tokenizer = Senses.with_inventory(lambda: sense_inventory), tiny.tokenizer().backend_tokenizer
    inputs = [
        Sentence(
            ["a", "bank", "sat"], [Target(1, "bank", "noun"), Target(2, "sit", "verb"), Target(0, "bunk", "noun")]
        ),
        Sentence(["bank"], [Target(0, "bank")]),
        Sentence(["sat"], [Target(0, "sit", "verb")]),
        Sentence(["the"], []),
    ]
    rows = kind.encode(inputs, tokenizer, 64)
    logits = np.zeros((len(rows.ids.values), len(labels(4))), dtype=np.float32)
    logits[:, 4 + 17] = 1.5
    high = np.exp(1.5)
    np.testing.assert_allclose(
        kind.confidence(logits, rows, inputs, []), [high / (high + 1), high / (high + 2), 1, 1], rtol=1e-6
    )
    assert kind.same_outputs_as(kind) and not kind.same_outputs_as(
        Senses.with_inventory(lambda: other_than(sense_inventory))
    )


def other_than(sense_inventory):
    return SenseInventory(
        sense_inventory.senses.slice(1), sense_inventory.synsets, sense_inventory.forms, sense_inventory.vectors
    )
