"""Texts that become shorter between layers."""

import pytest
import torch

import tiny
from converted import text_batch
from niwaki.models.forward import forward
from niwaki.models.layout import Packed, Padded
from niwaki.models.shortening import Share, most_attended, paired, strongest

MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])


@pytest.mark.parametrize(("tokens", "left"), [(1, 1), (3, 3), (4, 4), (6, 4), (8, 4), (9, 5), (10, 5), (4001, 2001)])
def test_shares_are_rounded_up_and_short_texts_stay_whole(tokens, left):
    share = Share(500, 4)
    assert share.of(tokens) == left and share.of(torch.tensor([tokens])).tolist() == [left]


def test_counts_are_the_same_in_whole_numbers_and_in_tensors():
    for thousandths in (1, 333, 758, 999, 1000):
        share, lengths = Share(thousandths, 1), torch.arange(1, 4097)
        assert share.of(lengths).tolist() == [share.of(int(length)) for length in lengths]


def test_the_first_token_and_the_strongest_stay_in_their_order():
    received = torch.tensor([[0.0, 5.0, 1.0, 4.0, 3.0], [0.0, 1.0, 2.0, 9.0, 9.0]])  # what padding gets does not count
    chosen, mask = strongest(received, MASK, Share(600, 1))
    assert mask.tolist() == [[1, 1, 1], [1, 1, 0]]
    assert chosen[0].tolist() == [0, 1, 3] and chosen[1, :2].tolist() == [0, 2]


def rows_of(mask: torch.Tensor) -> torch.Tensor:
    return torch.arange(mask.numel() * 2.0).reshape(*mask.shape, 2)


@pytest.mark.parametrize("is_packed", [False, True])
def test_rows_leave_packed_and_padded(is_packed):
    layout = Packed(MASK) if is_packed else Padded(MASK, rows_of(MASK))
    layout.received = [torch.tensor([[0.0, 5.0, 1.0, 4.0, 3.0], [0.0, 1.0, 2.0, 0.0, 0.0]])]
    rows, new = most_attended(layout.pack(rows_of(MASK)), layout, Share(600, 1))
    found = new.unpack(rows)
    assert found[0].tolist() == rows_of(MASK)[0, [0, 1, 3]].tolist()
    assert found[1, :2].tolist() == rows_of(MASK)[1, [0, 2]].tolist()
    assert rows.numel() == 2 * (5 if is_packed else 6)  # packed, padding has no rows


@pytest.mark.parametrize("is_packed", [False, True])
def test_pairs_behind_the_first_token_become_their_means(is_packed):
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1], [1, 0, 0, 0]])
    mask[1, 3] = 0
    states = torch.tensor([[1.0, 2, 4, 7], [1, 3, 5, 100], [9, 100, 100, 100]])[..., None]
    layout = Packed(mask) if is_packed else Padded(mask, states)
    rows, new = paired(layout.pack(states), layout)
    found, real = new.unpack(rows)[..., 0], new.mask.bool()
    assert [found[text][real[text]].tolist() for text in range(3)] == [[1, 3, 7], [1, 4], [9]]


@pytest.mark.parametrize("is_packed", [False, True])
def test_attention_is_summed_over_heads_and_real_tokens(is_packed):
    model = tiny.model("bert")
    batch = text_batch(model, 9)
    outputs = forward(model.anatomy, batch, frozenset({"hidden", "scores"}))
    hidden, scores, mask = outputs.hidden[0], outputs.scores[0], batch.mask
    weights = torch.softmax(scores.masked_fill(mask[:, None, None] == 0, -1e9), -1) * mask[:, None, :, None]
    layout = Packed(mask) if is_packed else Padded(mask, hidden)
    layout.received = []
    model.anatomy.layers[0].mixer.forward(layout.pack(hidden), layout, {})
    torch.testing.assert_close(layout.received[0] * mask, weights.sum((1, 2)) * mask, atol=1e-5, rtol=0)
