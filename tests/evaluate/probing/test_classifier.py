import numpy as np
import pytest

from niwaki.evaluate.probes._probe import Example
from niwaki.evaluate.probing.classifier import by_sentence, difference, labelled, measured


def example(sentence, label, kind):
    return Example(sentence, (0,), label, kind)


def drawn(count, seed, kinds=40):
    """Labels that follow from the type of the word, a quarter of the rows each."""
    generator = np.random.default_rng(seed)
    types = generator.integers(0, kinds, count)
    return [example(number, f"l{kind % 4}", f"w{kind}") for number, kind in enumerate(types)], types


def test_states_that_show_the_label_alone_are_selective_and_identities_are_not():
    """One-hot labels say nothing about a random label of the type; one-hot types are memorized for both."""
    train, train_types = drawn(600, 0)
    test, test_types = drawn(300, 1)
    examples = labelled(train, test, seed=3)
    noise = np.random.default_rng(2).normal(0, 0.01, (900, 1))
    labels = np.concatenate([np.eye(4)[np.concatenate([train_types, test_types]) % 4], noise], axis=1)
    types = np.eye(40)[np.concatenate([train_types, test_types])]
    by_label, _ = measured(examples, labels[:600], labels[600:])
    by_type, _ = measured(examples, types[:600], types[600:])
    assert by_label["accuracy"]["value"] == by_type["accuracy"]["value"] == 1
    assert by_label["selectivity"]["value"] > 0.3 and by_type["selectivity"]["value"] < 0.1
    assert by_label["bits"] < by_type["bits"] < by_label["uniform_bits"] == 1200


def test_control_labels_depend_on_the_type_alone_and_have_the_same_frequencies():
    train, _ = drawn(4000, 0, kinds=2000)
    examples = labelled(train, train[:50], seed=0)
    kinds = {}
    for one, control in zip(train, examples.control_train, strict=True):
        assert kinds.setdefault(one.type, control) == control
    assert np.bincount(examples.control_train, minlength=4) / 4000 == pytest.approx([0.25] * 4, abs=0.04)
    assert (examples.control_test == examples.control_train[:50]).all()
    assert (labelled(train, train[:50], seed=1).control_train != examples.control_train).any()


def test_majority_and_unseen_labels():
    train = [example(0, label, label) for label in "aaab"]
    test = [example(1, label, label) for label in "abcaa"]
    examples = labelled(train, test, 0)
    assert examples.majority == 0.6 and examples.numbers(test).tolist() == [0, 1, -1, 0, 0]


def test_sentences_are_drawn_and_differences_are_paired():
    rows = [example(number // 5, "a", "a") for number in range(200)]
    right = np.arange(200) % 4 > 0
    stats = by_sentence(rows, right, ~right)
    assert stats.shape == (3, 40) and stats.sum(axis=1).tolist() == [150, 50, 200]
    assert difference(stats, stats) == {"value": 0, "low": 0, "high": 0}
    found = difference(by_sentence(rows, right | True, right), stats)
    assert found["value"] == 0.25 and 0.2 < found["low"] < 0.25 < found["high"] < 0.3
