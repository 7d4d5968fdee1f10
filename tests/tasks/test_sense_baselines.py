"""Senses without context: the first and the most frequent one."""

from niwaki.answers.senses import Sentence, Target
from niwaki.tasks import _sense_baselines as baselines
from tasks.inventory import key


def test_most_frequent_sense_falls_back_to_the_first_sense(sense_task):
    inputs = [Sentence(["film"], [Target(0, "film", "noun")])] * 3
    common = baselines.counted(inputs, [[["b"]], [["a", "b"]], [["a", "c"]]])
    assert common == {("film", "noun"): "b"}  # as often as a, and seen before it
    inventory = sense_task.inventories.without_vectors
    assert baselines.most_frequent(inventory, common, inputs[0].targets[0]) == "b"
    assert baselines.most_frequent(inventory, common, Target(0, "plot", "noun")) == key("plot", "noun", 1)
