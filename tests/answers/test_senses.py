"""Word senses: sentences to targets, scores to senses, confidence."""

import numpy as np
import pytest

import tiny
from answers.senses import key, write
from niwaki.answers._sense_inventory import SenseInventory, labels
from niwaki.answers.senses import Senses, Sentence, Target, tokens_of
from niwaki.core.errors import InputError


def test_plain_sentence_is_split_into_words_with_lemmas(sense_inventory):
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


def test_given_lemmas_and_parts_of_speech_are_used(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    given = (["The", "banks", "sat"], ["the", "Bank", "sit"], ["DET", "NOUN", "ADV"])
    assert kind.check(given) == Sentence(["The", "banks", "sat"], [Target(1, "bank", "noun")])
    assert kind.check(["a", "bank"]).targets[0].word == 1
    assert kind.check(kind.check(given)) == kind.check(given)


def test_input_columns_are_recognised_by_name():
    kind = Senses()
    assert kind.columns(["id", "tokens", "lemmas", "pos"]) == [["tokens", "lemmas", "pos"]]
    assert kind.columns(["tokens", "id"]) == [["tokens"]] and kind.columns(["text", "pos"]) == [["text"]]


def test_unusual_sentences_are_accepted(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    assert kind.check("日本語 \u0300 naïve…").targets == []
    assert len(kind.check("bank " * 3000).targets) == 3000


def logits_for(sense_inventory, rows, inputs, sense):
    """A network that is sure of one sense's lexicographer file at every word."""
    logits = np.zeros((len(rows.ids.values), len(labels(4))), dtype=np.float32)
    logits[:, 4 + sense_inventory.lexfile[sense_inventory.keys.index(sense)]] = 9
    return logits


def test_only_senses_of_the_lemma_and_its_part_of_speech_are_predicted(sense_inventory):
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
    predicted = kind.answers(logits_for(sense_inventory, rows, inputs, verb), rows, inputs, [])
    assert predicted[1].senses[0] | {"probability": 1} == {
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
    assert predicted[1].senses[0]["probability"] > 0.99 and predicted[0].senses[2]["sense"] is None
    assert "bank [bank%2:01:00:: the bank 1.00]" in str(predicted[1])
    assert kind.values(np.zeros((0, len(labels(4))), np.float32), kind.encode([], tokenizer, 64), [], []) == []


def test_prior_weight_scales_the_part_of_the_prior(sense_inventory):
    """At the word, 2 for "is the first sense" and 1 for the file of the second: 2 · 0.4 is less than 1."""
    inputs = [Sentence(["bank"], [Target(0, "bank", "noun")])]
    rows = Senses().encode(inputs, tiny.tokenizer().backend_tokenizer, 64)
    logits = np.zeros((len(rows.ids.values), len(labels(4))), dtype=np.float32)
    logits[:, 4 + 14], logits[:, -2] = 1, 2
    for weight, number in ((1.0, 1), (0.6, 1), (0.4, 2), (0.0, 2)):
        kind = Senses.with_inventory(lambda: sense_inventory).model_copy(update={"prior_weight": weight})
        assert kind.values(logits, rows, inputs, []) == [[key("bank", "noun", number)]]


def test_word_without_tokens_gets_the_first_sense(sense_inventory):
    kind = Senses.with_inventory(lambda: sense_inventory)
    inputs = [Sentence(["\u200b", "bank"], [Target(0, "bank", "noun")])]
    rows = kind.encode(inputs, tiny.tokenizer().backend_tokenizer, 64)
    assert tokens_of(rows, inputs).tolist() == [-1]
    assert kind.values(np.ones((len(rows.ids.values), len(labels(4))), np.float32), rows, inputs, []) == [
        [key("bank", "noun", 1)]
    ]


def test_first_tokens_are_found_in_a_sentence_of_several_windows(sense_inventory):
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


def test_inventory_with_other_dimensions_than_the_network_is_rejected(sense_inventory, tmp_path):
    write(tmp_path, sense_inventory.to_files())
    loaded = Senses(prior_weight=0.5).load_files(tmp_path, labels(4))
    assert loaded.sense_inventory.keys == sense_inventory.keys and loaded.prior_weight == 0.5
    with pytest.raises(InputError, match="are not of one model"):
        Senses().load_files(tmp_path, labels(5))
    with pytest.raises(InputError, match="was not loaded"):
        Senses().check("a bank")


def test_confidence_is_that_of_the_least_certain_word(sense_inventory):
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
        Senses.with_inventory(lambda: smaller_inventory(sense_inventory))
    )


def smaller_inventory(sense_inventory):
    return SenseInventory(
        sense_inventory.senses.slice(1), sense_inventory.synsets, sense_inventory.forms, sense_inventory.vectors
    )
