"""Every probe on one sentence by hand, and on generated ones."""

import pytest

from niwaki.evaluate.probes._probe import PROBES, Probe, column, depths, numbers
from niwaki.evaluate.probes.agreement import is_unmarked, number_of

from .sentences import sentences

WORDS = ["The", "films", "of", "Ann", "ended", "."]
ROW = {
    "tokens": WORDS,
    "upos": ["DET", "NOUN", "ADP", "PROPN", "VERB", "PUNCT"],
    "xpos": ["DT", "NNS", "IN", "NNP", "VBD", "."],
    "head": [2, 5, 4, 2, 0, 5],
    "deprel": ["det", "nsubj", "case", "nmod", "root", "punct"],
    "ner_tags": ["O", "O", "O", "B-PER", "O", "O"],
}


def examples(name, rows):
    return list(PROBES.load(name, Probe)().examples(rows))


def test_parts_of_speech_and_names_are_labels_of_words():
    assert [(one.places, one.label, one.type) for one in examples("part_of_speech", [ROW])][:2] == [
        ((0,), "DET", "the"),
        ((1,), "NOUN", "films"),
    ]
    found = examples("named_entities", [ROW])
    assert [(one.places[0], one.label) for one in found] == [(3, "B-PER"), (4, "O")]  # every fourth word outside


def test_trees():
    assert depths([2, 5, 4, 2, 0, 5]) == [2, 1, 3, 2, 0, 1] and depths([2, 1]) is None
    assert numbers(["2", 0]) == [2, 0] and numbers(["2", None]) == [] and numbers([9]) == []
    (found,) = examples("tree_depth", [ROW])
    assert (found.places, found.label, found.type) == ((), "3", "the")
    arcs = examples("dependency_arcs", [ROW])
    assert [one.places for one in arcs if one.label == "arc"] == [(0, 1), (1, 4), (2, 3), (3, 1), (5, 4)]
    for one in arcs:
        if one.label == "none":
            word, other = one.places
            assert ROW["head"][word] != other + 1 and ROW["head"][other] != word + 1 and word != other


def test_the_subject_s_number_is_read_at_verbs_that_do_not_show_it():
    (found,) = examples("agreement", [ROW])
    assert (found.places, found.label) == ((4,), "plural")
    assert examples("agreement", [{**ROW, "xpos": [*ROW["xpos"][:4], "VBP", "."]}]) == []
    assert number_of("Case=Nom|Number=Sing") == "singular" and number_of("PRP") == ""
    assert is_unmarked("ended", "VBD") and not is_unmarked("were", "VBD") and is_unmarked("go", "VerbForm=Inf")


def test_lengths_and_words_of_sentences():
    rows = [{"tokens": ["a"] * count} for count in (1, 5, 6, 12, 22, 23, 90)]
    assert [one.label for one in examples("sentence_length", rows)] == ["0", "0", "1", "2", "4", "5", "5"]
    rows = [{"tokens": ["often", word, "x"]} for word in ["rare"] * 5 + ["seldom"] * 4 + ["rare"]] + [
        {"tokens": ["often"]}
    ] * 140
    assert {one.label for one in examples("word_content", rows)} == {"rare"}
    both = [{"tokens": ["rare", "x"]}] * 6 + [{"tokens": ["y"]}] * 144
    assert examples("word_content", both) == []  # sentences with two of the words do not count


def test_senses_of_ambiguous_words():
    rows = [
        {"tokens": ["bank", "of"], "lemmas": ["bank", "of"], "sense_keys": [[f"bank%{n % 2}"], None]} for n in range(16)
    ]
    rows += [{"tokens": ["one"], "lemmas": ["one"], "sense_keys": [["one%1"]]}] * 20
    found = examples("senses", rows)
    assert len(found) == 16 and {one.label for one in found} == {"bank: bank%0", "bank: bank%1"}
    assert len(examples("senses", rows[1:])) == 0  # seven of one sense are too few


@pytest.mark.parametrize("name", PROBES.names())
def test_probes_hold_on_generated_sentences(name):
    rows = sentences(60)
    found = examples(name, rows)
    probe = PROBES.load(name, Probe)
    assert found and found == examples(name, rows) and len({one.label for one in found}) > 1
    assert all(0 <= place < len(rows[one.sentence]["tokens"]) for one in found for place in one.places)
    assert [one.sentence for one in found] == sorted(one.sentence for one in found)
    bare = [{"tokens": row["tokens"]} for row in rows]
    assert not probe.columns or examples(name, bare) == []
    assert all(column(rows[0], names) for names in probe.columns)
