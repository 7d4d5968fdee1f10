"""LSTM layers against torch.nn.LSTM, run on each text alone: gates in another order, padding, both directions."""

import pytest
import torch

from niwaki.models.networks.lstm import BiLstm, Int8Lstm, Lstm, reversal


def by_torch(layer: BiLstm) -> torch.nn.LSTM:
    """The same weights in torch's own module, gate by gate."""
    own = torch.nn.LSTM(layer.inputs, layer.units, bidirectional=True, batch_first=True)
    weights = layer.weights()
    for direction, ending in enumerate(("", "_reverse")):
        biases = weights[2][direction].chunk(2)
        sources = {
            "weight_ih": weights[0][direction],
            "weight_hh": weights[1][direction],
            "bias_ih": biases[0],
            "bias_hh": biases[1],
        }
        for name, source in sources.items():
            gate_i, gate_o, gate_f, gate_c = source.detach().chunk(4)
            getattr(own, f"{name}_l0{ending}").data.copy_(torch.cat([gate_i, gate_f, gate_c, gate_o]))
    return own


def by_torch_one_way(layer: Lstm) -> torch.nn.LSTM:
    """The weights of a layer with one direction in torch's own module. It reads as it is given a text."""
    own = torch.nn.LSTM(layer.inputs, layer.units, batch_first=True)
    matrices, recurrent, biases = (part[0].detach() for part in layer.weights())
    sources = {"weight_ih_l0": matrices, "weight_hh_l0": recurrent}
    for name, source in {**sources, **dict(zip(("bias_ih_l0", "bias_hh_l0"), biases.chunk(2), strict=True))}.items():
        gate_i, gate_o, gate_f, gate_c = source.chunk(4)
        getattr(own, name).data.copy_(torch.cat([gate_i, gate_f, gate_c, gate_o]))
    return own


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@torch.no_grad()
def test_one_direction_is_that_of_torch_with_random_lengths(direction):
    draw = torch.Generator().manual_seed(4)
    layer, x = Lstm(5, 3, direction), torch.randn(6, 9, 5, generator=draw)
    torch.nn.init.normal_(layer.bias)
    lengths = torch.randint(1, 10, (6,), generator=draw)
    mask = (torch.arange(9)[None] < lengths[:, None]).long()
    found, own = layer(x, mask), by_torch_one_way(layer)
    for number, length in enumerate(lengths.tolist()):
        text = x[number : number + 1, :length]
        wanted = own(text)[0] if direction == "forward" else own(text.flip(1))[0].flip(1)
        torch.testing.assert_close(found[number, :length], wanted[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("packed", [False, True])
@torch.no_grad()
def test_states_are_those_of_torch_on_each_text_alone(packed):
    torch.manual_seed(0)
    layer = BiLstm(5, 4)
    torch.nn.init.normal_(layer.bias)
    layer = layer.packed() if packed else layer
    x, lengths = torch.randn(3, 7, 5), [7, 1, 4]
    mask = torch.tensor([[1] * length + [0] * (7 - length) for length in lengths])
    found = layer(x, mask)
    for number, length in enumerate(lengths):
        wanted = by_torch(layer)(x[number : number + 1, :length])[0][0]
        torch.testing.assert_close(found[number, :length], wanted, atol=1e-6, rtol=0)


def test_gradients_are_those_of_torch():
    torch.manual_seed(0)
    layer, x = BiLstm(3, 2), torch.randn(1, 5, 3)
    own = by_torch(layer)
    layer(x, torch.ones(1, 5)).square().sum().backward()
    own(x)[0].square().sum().backward()
    gate_i, gate_o, gate_f, gate_c = layer.input.grad[1].chunk(4)
    torch.testing.assert_close(torch.cat([gate_i, gate_f, gate_c, gate_o]), own.weight_ih_l0_reverse.grad)


def test_a_text_is_turned_and_padding_stays():
    assert reversal(torch.tensor([3, 1]), 4).tolist() == [[2, 1, 0, 3], [0, 1, 2, 3]]


def test_packed_matrices_are_bytes_with_a_scale_for_each_gate_of_each_unit():
    torch.manual_seed(0)
    layer = BiLstm(6, 4)
    packed = Int8Lstm.of(layer)
    assert packed.input.dtype == packed.recurrent.dtype == torch.int8 and packed.input_scale.shape == (2, 16, 1)
    for whole, codes, scale in (
        (layer.input, packed.input, packed.input_scale),
        (layer.recurrent, packed.recurrent, packed.recurrent_scale),
    ):
        assert ((whole - codes * scale).abs() <= scale / 2 + 1e-7).all()
        assert (codes.abs().amax(dim=-1) == 127).all()
    assert packed.packed() is packed


def test_new_weights_lie_within_the_usual_bounds():
    layer = Lstm(5, 16)
    assert layer.directions == 1 and BiLstm(5, 16).directions == 2
    for weight in (layer.input, layer.recurrent):
        assert weight.abs().max() <= 16**-0.5 and weight.std() > 0.1
    assert not layer.bias.any()


def test_recurrent_weights_are_dropped_only_while_training():
    torch.manual_seed(0)
    layer = Lstm(3, 8, drops_weights=True)
    layer.weight_dropout.p = 0.5
    kept = layer.weights()[1]
    assert 0.3 < (kept == 0).float().mean() < 0.7
    torch.testing.assert_close(kept[kept != 0], 2 * layer.recurrent[kept != 0])
    assert torch.equal(layer.eval().weights()[1], layer.recurrent)
