import torch

from niwaki.models.recorded import LazyDepths, Recorded, Unpadded, Unpads, pad_scores

ORDER = torch.tensor([1, 0])


def rows(value: float) -> Unpadded:
    return Unpadded(torch.full((3, 1), value), ORDER, lambda own: own[None] * 10)


def test_an_activation_is_padded_when_it_is_read_by_depth() -> None:
    found = Recorded([rows(1.0), rows(2.0), torch.zeros(1, 3, 1)])
    assert len(found) == 3 and isinstance(found[1:], Recorded)
    assert [float(one.sum()) for one in found] == [30.0, 60.0, 0.0]
    assert found[-2].shape == (1, 3, 1)


def test_activations_are_at_hand_without_padding_in_their_own_order_alone() -> None:
    found = Recorded([rows(1.0), rows(2.0)])
    assert isinstance(found, Unpads) and found.order is ORDER
    assert found.fits(ORDER.clone()) and not found.fits(ORDER.flip(0))
    assert torch.equal(found.unpadded(1, ORDER), torch.full((3, 1), 2.0))


def test_one_padded_activation_leaves_none_without_padding() -> None:
    found = Recorded([rows(1.0), torch.zeros(1)])
    assert found.order is None and not found.fits(ORDER)
    assert Recorded([]).order is None


def test_scores_are_padded_with_zeros_in_the_order_of_the_batch() -> None:
    """Two heads; the second text of the batch has one token and comes first: 1, 2 of its heads, then twice 2 × 2."""
    values = torch.arange(1.0, 11.0, requires_grad=True)
    found = pad_scores(values, [1, 2], ORDER.tolist())
    assert found.tolist() == [[[[3, 4], [5, 6]], [[7, 8], [9, 10]]], [[[1, 0], [0, 0]], [[2, 0], [0, 0]]]]
    assert torch.equal(torch.autograd.grad(found.sum(), values)[0], torch.ones(10))


def test_lazy_activations_are_computed_once() -> None:
    read: list[int] = []

    def pad(depth: int) -> torch.Tensor:
        read.append(depth)
        return torch.full((1,), float(depth))

    found = LazyDepths([1, 3], pad, lambda depth, order: order * depth)
    assert set(found) == {1, 3} and len(found) == 2 and 2 not in found and not read
    assert found[3] is found[3] and read == [3]
    assert found.fits(ORDER) and found.unpadded(3, ORDER).tolist() == [3, 0]
