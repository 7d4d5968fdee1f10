"""Pairs of texts: columns given by their names, targets and losses by hand."""

import json
import math

import numpy as np
import pytest
import torch

from niwaki.answers._beam_search import END, NO_TOKEN, PAD, START
from niwaki.answers.text import TARGET, read_target
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.features import Features
from niwaki.models.forward import NO_LABEL, Batch
from niwaki.tasks.generation import Generation
from niwaki.train.collator import shift_right

WORDS = ["red", "green", "blue", "grey"]


@pytest.fixture
def pairs(tmp_path):
    rows = [{"source": f"{one} {two}", "target": f"{two.upper()} {one.upper()}"} for one in WORDS for two in WORDS * 3]
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        "".join(json.dumps({**row, "source": f"{row['source']} {number}"}) + "\n" for number, row in enumerate(rows))
    )
    return path


def test_columns_are_given_by_their_names(pairs):
    task = Generation(path=str(pairs), split="words")
    assert task.data.columns(task.read_parts()["all"]) == {"text": "source", "target": "target"}
    with pytest.raises(InputError, match="has no column 'wanted'"):
        Generation(path=str(pairs), target="wanted").splits()


def test_empty_cells_are_rejected(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"source": "a", "target": "b"}\n{"source": "c", "target": " "}\n' * 8)
    with pytest.raises(InputError, match="empty cells"):
        Generation(path=str(path)).splits()


def test_targets_end_with_their_mark_and_are_cut(pairs):
    task = Generation(path=str(pairs), split="words", max_new_tokens=2)
    rows = task.splits()["train"].slice(0, 3)
    found = task.targets(rows, None)
    wanted = [[task.answer_type.target.token_to_id(word) for word in text.split()] for text in task.gold(rows)]
    assert [found[row].tolist() for row in range(3)] == wanted  # two words: no room for the end
    longer = Generation(path=str(pairs), split="words", max_new_tokens=9).targets(rows, None)
    assert [longer[row].tolist() for row in range(3)] == [[*ids, END] for ids in wanted]


def test_what_is_written_is_read_again(pairs):
    task = Generation(path=str(pairs), split="words")
    ids = [task.answer_type.target.token_to_id(word) for word in ("BLUE", "RED")]
    found = np.full((2, 1 + task.max_new_tokens), NO_TOKEN, dtype=np.float32)
    found[0, :3] = [math.log(0.25), *ids]
    found[1, 0] = 0.0
    assert task.answer_type.values(found, None, [], []) == ["BLUE RED", ""]
    first, second = task.answer_type.answers(found, None, [], [])
    assert (first.text, second.text) == ("BLUE RED", "") and math.isclose(first.probability, 0.25, rel_tol=1e-6)


def test_the_loss_of_two_tokens_by_hand(pairs):
    """Logits 0 but for ln 3 at the right one of four subwords: 3/6 at the right one, 1/6 at each other. With a share s of the truth spread
    over all four: -(1 - s) ln ½ - s/4 · (ln ½ + 3 ln ⅙)."""
    logits = torch.zeros(1, 3, 4)
    logits[0, 0, 2] = logits[0, 1, 3] = math.log(3)
    batch = Batch({}, torch.tensor([[2, 3, NO_LABEL]]), torch.tensor([0]))
    plain = Generation(path=str(pairs), label_smoothing=0.0).criterion.loss(logits, batch)
    assert math.isclose(float(plain), math.log(2), rel_tol=1e-6)
    smooth = Generation(path=str(pairs), label_smoothing=0.2).criterion.loss(logits, batch)
    assert math.isclose(float(smooth), 0.8 * math.log(2) + 0.05 * (math.log(2) + 3 * math.log(6)), rel_tol=1e-6)


def test_the_soft_loss_leaves_padding_out(pairs):
    task = Generation(path=str(pairs))
    student, teacher = torch.randn(2, 1, 4, 5)
    batch = Batch({}, torch.tensor([[1, 2, 3, NO_LABEL]]), torch.tensor([0]))
    teacher[0, 3] = 1e3
    wanted = (
        torch.nn.functional.kl_div(
            student.log_softmax(-1)[0, :3], teacher.log_softmax(-1)[0, :3], log_target=True, reduction="sum"
        )
        / 3
    )
    torch.testing.assert_close(task.criterion.soft_loss(student, teacher, batch, 1.0), wanted)


def test_each_token_is_predicted_from_those_before_it():
    targets = torch.tensor([[7, 8, END], [9, END, NO_LABEL]])
    assert shift_right(targets, START).tolist() == [[START, 7, 8], [START, 9, END]]
    assert shift_right(torch.tensor([[NO_LABEL, NO_LABEL]]), START).tolist() == [[START, PAD]]


def test_rows_are_as_long_as_what_is_read_or_written(pairs):
    task = Generation(path=str(pairs), split="words")
    rows = task.answer_type.encode(["red", "red red red red"], task.answer_type.target, 99)
    features = Features(rows, Ragged.of([[5, 6, END], [END]]))
    assert features.lengths.tolist() == [3, 4]


def test_a_teachers_answers_take_the_place_of_the_right_ones(pairs):
    task = Generation(path=str(pairs), split="words")
    rows = task.splits()["train"].slice(0, 2)
    assert task.gold(task.with_answers(rows, ["RED", "GREY"])) == ["RED", "GREY"]
    assert task.inputs(task.with_answers(rows, ["RED", "GREY"])) == task.inputs(rows)


def test_only_the_same_words_are_right(pairs):
    task = Generation(path=str(pairs))
    rows = task.splits()["test"].slice(0, 2)
    predicted = [f" {task.gold(rows)[0]}  ", task.gold(rows)[1].lower()]
    assert task.scorer.scores(task.scorer.example_stats(predicted, rows)) == {"exact": 0.5}


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"not json", b'{"model": {"type": "Odd"}}', b"\xff\xfe", b'{"version": "1.0", "model": null}'],
)
def test_a_damaged_target_tokenizer_is_rejected_in_a_line(data):
    with pytest.raises(InputError, match=TARGET) as caught:
        read_target(data, "here")
    assert len(str(caught.value).splitlines()) == 1
