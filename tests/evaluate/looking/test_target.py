import pytest
import torch

from niwaki.answers._fill import Masks
from niwaki.answers._occlusion import Word
from niwaki.evaluate.looking.target import SpanScore, target_of

LABELS = ["O", "PER", "LOC"]
name = LABELS.__getitem__


def test_one_label_is_compared_with_the_runner_up():
    logits = torch.tensor([1.0, 4.0, 3.5])
    target = target_of("label", logits, None, LABELS, name)
    assert target.what == "logit of 'PER' less that of 'LOC'" and float(target(logits, None)) == 0.5
    assert target(torch.stack([logits, -logits]), None).tolist() == [0.5, -0.5]


def test_other_kinds_of_answers():
    several = torch.tensor([-1.0, 2.0, 1.0])
    assert float(target_of("labels", several, None, LABELS, name)(several, None)) == 2
    assert float(target_of("number", torch.tensor([0.7]), None, [], name)(torch.tensor([0.2]), None)) == pytest.approx(
        0.2
    )
    vector = torch.tensor([3.0, 4.0])
    assert float(target_of("embedding", vector, None, [], name)(torch.tensor([4.0, 3.0]), None)) == pytest.approx(0.96)
    assert float(SpanScore("", 1, 2)(torch.arange(8.0).reshape(4, 2), None)) == 2 + 5
    assert target_of("text", vector, None, [], name) is None


def test_tags_are_explained_at_their_word():
    logits = torch.tensor([[9.0, 0, 0], [5, 1, 0], [0, 1, 4], [2, 0, 1]])
    note = (0, [1, 2, 3])  # three words behind a special token
    target = target_of("tags", logits, note, LABELS, name)
    assert target.word == 1 and float(target(logits, note)) == 3  # the first word that is not O
    assert target_of("tags", logits, note, LABELS, name, word=2).word == 2
    assert target_of("tags", logits, note, LABELS, name, word=5) is None
    assert target.without(Word("a", 0, 0, 1)).word == 0 and target.without(Word("c", 0, 2, 3)).word == 1


def test_masks_and_next_tokens():
    logits = torch.tensor([[0.0, 0, 1], [5, 1, 2], [0, 0, 3]])
    masks = Masks([7, 8, 9], [0, 0, 0], [1], [1])
    assert float(target_of("fill", logits, masks, [], name)(logits, masks)) == 3
    assert float(target_of("next", logits, None, [], name)(logits, None)) == 3
