"""Quantization: the numbers by hand, and against slower ways to compute the same."""

from functools import partial

import onnx
import onnxruntime
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context, Schedules
from niwaki.methods.factorize.kronecker import Kronecker
from niwaki.methods.quantize._rounding import parametrized_input, rounded, trainable
from niwaki.methods.quantize.binary import Binary, BinaryRounding
from niwaki.methods.quantize.gptq import Gptq, calibration_order, compensated, in_proportion, input_powers
from niwaki.methods.quantize.int8 import Int8 as Int8Method
from niwaki.methods.quantize.qat import Int8Rounding, Qat, TrackedRounding
from niwaki.methods.quantize.rtn import Rtn
from niwaki.methods.quantize.static import Static, covering, widest
from niwaki.methods.quantize.ternary import Ternary, ternarize
from niwaki.models.edits.int8 import Int8 as Int8Edit
from niwaki.models.edits.share import Share
from niwaki.models.embedding_tables import small_weights
from niwaki.models.forward import Batch
from niwaki.models.model import load_folder
from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear, pack_int8, quantize_rows
from niwaki.models.packed.low_bit import LowBit, as_float16, best_scale
from niwaki.models.packed.rounding import in_eight_bits
from niwaki.models.packed.static import StaticInt8Linear
from niwaki.models.packed.store import StoredLinear, StoredTable
from niwaki.models.parametrizations import add_parametrization, original_weight

LOSS = torch.nn.functional.cross_entropy
CONTEXT = Context(
    0,
    None,
    None,
    lambda model, count: [tiny.batch(model, seed=number) for number in range(min(count, 3))],
    lambda model, batch: LOSS(model.network(**batch.inputs).logits, batch.targets),
    None,
    list,
)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_rounded_by_hand():
    weight = torch.tensor([[0.1, 0.6, -2.0, 1.4, 9.0]])
    assert rounded(weight, torch.tensor([[1.0, 4.0]]), 4, 4).tolist() == [[0.5, 0.5, -1.5, 1.5, 6.0]]
    assert rounded(weight, torch.tensor([[1.0, 4.0]]), 3, 4).tolist() == [[0.0, 1.0, -1.0, 1.0, 4.0]]


@pytest.mark.parametrize("bits, levels", [(4, 16), (3, 7), (2, 4)])
@pytest.mark.parametrize("embeddings", [True, False])
def test_lowbit_packs_what_it_says(bits, levels, embeddings):
    model = Rtn(bits=bits, group=16, embeddings=embeddings).finish(tiny.model("electra"))
    for path in model.anatomy.matrices():
        store = model.network.get_submodule(path).store
        assert (store.base, store.group) == (levels, 16)
        assert all(len(part.unique()) <= levels for part in store().split(16, dim=1)[0][:4])
    assert isinstance(model.anatomy.tokens, StoredTable) == embeddings
    assert isinstance(model.network.classifier.out_proj, torch.nn.Linear)


def surgeon(weight, powers, base, group, damping):
    """The update of the optimal brain surgeon row by row, the inverse of what is left worked out anew at each column."""
    columns = weight.shape[1]
    hessian = (powers + damping * powers.diagonal().mean() * torch.eye(columns)).double()
    out = weight.double().clone()
    for row in out:
        for start in range(0, columns, group):
            scale = as_float16(best_scale(row[None, None, start : start + group].float(), base))
            for column in range(start, min(start + group, columns)):
                inverse = torch.linalg.inv(hessian[column:, column:])
                seen = float(rounded(row[None, column, None].float(), scale, base, 1))
                row[column:] += (seen - row[column]) / inverse[0, 0] * inverse[0]
                row[column] = seen
    return out.float()


@pytest.mark.parametrize("base, group", [(16, 4), (7, 5), (4, 12), (3, 12)])
def test_compensated_equals_the_surgeon(base, group):
    x = drawn(40, 12, seed=1) @ drawn(12, 12, seed=2)
    weight, powers = drawn(3, 12), x.T @ x
    found, scales = compensated(weight, powers, base, group, 0.01)
    torch.testing.assert_close(found, surgeon(weight, powers, base, group, 0.01), atol=1e-5, rtol=1e-5)
    assert torch.equal(LowBit.of(found, base, group, scales)(), found)  # what is packed is what was found


def test_compensated_by_hand():
    """Two inputs that are nearly one: what the first is rounded down by, the second takes on."""
    powers = torch.tensor([[1.0, 1.0], [1.0, 1.0]])
    weight = torch.tensor([[0.3, 1.0]])
    found, scales = compensated(weight, powers, 3, 0, 1e-6)
    step = float(scales)  # the best of one for 0.3 and 1.0: they become 0 and 1
    assert step == 1.0 and found.tolist() == [[0.0, 1.0]]  # 1.0 + 0.3 is nearest to 1
    found, _ = compensated(torch.tensor([[0.45, 1.0, 1.1]]), torch.ones(3, 3), 7, 0, 1e-6)
    assert (
        abs(float(found.sum()) - 2.55)
        < abs(float(LowBit.of(torch.tensor([[0.45, 1.0, 1.1]]), 7)().sum()) - 2.55) + 1e-6
    )


@pytest.mark.parametrize("base, better", [(16, 0.5), (7, 0.5), (4, 0.6)])
def test_compensated_outputs_are_nearer_than_those_of_the_nearest_levels(base, better):
    x = drawn(400, 16, seed=1) @ drawn(16, 64, seed=2) + 0.5 * drawn(400, 64, seed=3)  # inputs that go together
    weight = drawn(32, 64)
    found, _ = compensated(weight, x.T @ x, base, 16, 0.01)
    nearest = LowBit.of(weight, base, 16)()
    assert (x @ (found - weight).T).norm() < better * (x @ (nearest - weight).T).norm()


def test_a_giant_token_does_not_ruin_the_others():
    """As BERT's first token in the feed-forward blocks: one input is huge, and its weight too large for four levels."""
    weight, x = drawn(8, 64), drawn(400, 64, seed=1)
    weight[:, 5] = 12.0
    x[:, 5] = 0.0
    x[::20, 5] = 50.0
    others, nearest = x[x[:, 5] == 0], LowBit.of(weight, 4, 64)()
    even = in_proportion(x, weight)
    torch.testing.assert_close((even @ weight.T).norm(dim=1), torch.ones(400))

    def error(powers):
        return float(
            (others @ (compensated(weight, powers, 4, 64, 0.1)[0] - weight).T).norm()
            / (others @ (nearest - weight).T).norm()
        )

    assert error(even.T @ even) < 1
    assert error(x.T @ x) > 1.5


def test_matrices_in_turn_and_the_sums_of_what_they_read():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 1, 1]))
    batch = tiny.batch(model)
    turns = calibration_order(model, batch)
    assert [len(paths) for paths, _ in turns] == [3, 1, 1, 1] * 2  # query, key and value read the same
    assert [calls for _, calls in turns] == [3, 1, 1, 1, 6, 2, 2, 2]  # the second layer's are read twice
    paths, calls = turns[0]
    powers = input_powers(model, paths, [batch, batch], calls)
    hidden = model.anatomy.inputs.forward(batch.inputs)[batch.mask.bool()]
    for path in paths:
        even = hidden / (hidden @ model.network.get_submodule(path).weight.T).norm(dim=1, keepdim=True)
        torch.testing.assert_close(powers[path], 2 * even.T @ even, atol=1e-4, rtol=1e-4)
    whole = input_powers(model, turns[4][0], [batch])
    for path, found in input_powers(model, turns[4][0], [batch], turns[4][1]).items():
        assert torch.equal(found, whole[path])  # a pass that ends early is not missed
    assert not any(module._forward_pre_hooks for module in model.network.modules())


@pytest.mark.parametrize("family", ["bert", "albert", "bilstm", "cnn"])
def test_gptq_packs_every_matrix_and_answers_nearer_than_lowbit(family):
    whole = tiny.model(family)
    batches = CONTEXT.calibration(whole, 3)
    packed = [Gptq(bits=3, group=16).prepare(whole.clone(), CONTEXT), Rtn(bits=3, group=16).finish(whole.clone())]
    for path in whole.anatomy.matrices():
        if family != "bilstm" or not path.startswith("body"):
            assert isinstance(packed[0].network.get_submodule(path), StoredLinear)
    errors = [
        sum(float((tiny.logits(model, one) - tiny.logits(whole, one)).square().sum()) for one in batches)
        for model in packed
    ]
    assert errors[0] < errors[1]


def test_gptq_rounds_what_was_packed_before():
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    assert Gptq(bits=2).prepare(model, CONTEXT).anatomy.layers[0].part("query").store.base == 4


def test_three_values_by_hand():
    """Mean sizes 1.0 and 0.5, so 0.7 and 0.35 must be passed; of the short group there is one."""
    signs, size = ternarize(torch.tensor([[1.2, -0.6, -2.0, 0.2, -0.5]]), 4)
    assert signs.tolist() == [[[1, 0, -1, 0], [-1, 0, 0, 0]]]
    torch.testing.assert_close(size, torch.tensor([[1.6, 0.5]]))
    assert ternarize(torch.zeros(1, 3), 3)[1].tolist() == [[0.0]]


def test_two_values_by_hand():
    weight = torch.tensor([[1.0, -3.0, 0.5, 5.0]], requires_grad=True)
    lens = BinaryRounding(weight, 2, 3)
    assert lens.scale(weight.detach()).tolist() == [[3.0, 10.0]]  # twice 4.5 / 3, twice 5
    seen = lens(weight)
    assert seen.tolist() == [[1.5, -1.5, 1.5, 5.0]]
    seen.backward(torch.tensor([[1.0, 2.0, 3.0, 4.0]]))
    assert weight.grad.tolist() == [[1.0, 2.0, 3.0, 4.0]]  # as if nothing were rounded


TRAINED = {
    "ternary": (Ternary, 3),
    "binary": (Binary, 2),
    "qat 4": (partial(Qat, bits=4, activations=False), 16),
    "qat 2": (partial(Qat, bits=2, activations=False), 4),
}


def with_rest_packed(model):
    """What is not trained through a rounding, small tables and the head's inner matrices, gets its 8 bits when the stage ends."""
    model = model.clone()
    replace_modules(model.network, small_weights(model.anatomy), pack_int8)
    return model


@pytest.mark.parametrize("group", [0, 24])
@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("family", ["bert", "albert", "electra", "bilstm"])
def test_what_is_packed_is_what_was_trained(family, name, group):
    method, base = TRAINED[name][0](group=group), TRAINED[name][1]
    model = method.prepare(tiny.model(family, width=36), CONTEXT)
    optimizer = torch.optim.SGD(model.network.parameters(), lr=0.05)
    for batch in CONTEXT.calibration(model, 3):
        CONTEXT.loss(model, batch).backward()
        optimizer.step()
        optimizer.zero_grad()
        if isinstance(method, Schedules):
            method.after_step(model, 0.5)
    before = tiny.logits(with_rest_packed(model), batch)
    seen = {path: model.network.get_submodule(path).weight.detach() for path in trainable("", model, True)}
    model = method.finish(model)
    for path, weight in seen.items():
        module = model.network.get_submodule(path)
        assert torch.equal(module.store(), weight) and module.store.base == base
        assert len(weight[0].unique()) <= base * module.store.groups
    close = (
        torch.testing.assert_close
        if family == "bilstm"
        else lambda one, two, **_: torch.equal(one, two) or pytest.fail()
    )
    close(tiny.logits(model, batch), before, atol=0.05, rtol=0)


@pytest.mark.parametrize("name", TRAINED)
def test_training_through_the_rounding_lowers_the_loss_and_moves_what_is_behind(name):
    model = TRAINED[name][0]().prepare(tiny.model("bert"), CONTEXT)
    batch = tiny.batch(model)
    module = model.anatomy.layers[0].part("ffn_in")
    seen, behind = module.weight.detach().clone(), original_weight(module).detach().clone()
    optimizer = torch.optim.Adam(model.network.parameters(), lr=0.003)
    losses = []
    for _ in range(12):
        loss = CONTEXT.loss(model, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
    assert not torch.equal(original_weight(module), behind) and not torch.equal(module.weight, seen)


@pytest.mark.parametrize("name", TRAINED)
def test_packed_weights_cannot_be_trained(name):
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    with pytest.raises(
        InputError,
        match=f"{name.split()[0]}: 'bert.encoder.layer.0.attention.self.query' is packed and cannot be trained; start from an earlier",
    ):
        TRAINED[name][0]().dry_prepare(model)


def test_a_scale_is_that_of_what_lenses_before_let_through():
    class Half(torch.nn.Module):
        def forward(self, weight):
            return weight * torch.tensor([1.0, 0.0])

    linear = torch.nn.Linear(2, 1)
    add_parametrization(linear, Half())
    lens = BinaryRounding(linear.weight, 2, 0)
    add_parametrization(linear, lens)
    torch.testing.assert_close(parametrized_input(linear, lens), original_weight(linear) * torch.tensor([1.0, 0.0]))


@pytest.mark.parametrize("activations", [True, False])
@pytest.mark.parametrize("family", ["bert", "albert", "cnn"])
def test_eight_bits_are_packed_as_they_were_trained(family, activations):
    method = Qat(activations=activations)
    model = method.prepare(tiny.model(family), CONTEXT)
    batch = tiny.batch(model)
    CONTEXT.loss(model, batch).backward()
    torch.optim.SGD(model.network.parameters(), lr=0.05).step()
    before = tiny.logits(with_rest_packed(model), batch)
    seen = {path: model.network.get_submodule(path).weight.detach() for path in trainable("", model, True)}
    model = method.finish(model)
    for path, weight in seen.items():
        module = model.network.get_submodule(path)
        assert isinstance(module, Int8Linear | Int8Embedding) and torch.equal(module.to_dense().weight, weight)
    assert not any(module._forward_pre_hooks for module in model.network.modules())
    moved = float((tiny.logits(model, batch) - before).abs().max())
    assert moved > 1e-3 if activations else moved < 1e-4  # torch itself does not round activations


def test_eight_bits_by_hand():
    weight = torch.tensor([[1.27, -0.644, 0.004]], requires_grad=True)
    seen = Int8Rounding(weight)(weight)
    torch.testing.assert_close(seen, torch.tensor([[1.27, -0.64, 0.0]]))
    seen.sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0, 1.0]]


def test_scales_follow_the_weights():
    """Weights that grow by a tenth take their scale along, to what a search finds for them."""
    weight = drawn(4, 64)
    lens = TrackedRounding(weight, 7, 16)
    assert torch.equal(lens.step, as_float16(LowBit.of(weight, 7, 16).scale.float()))
    for _ in range(10):
        weight = 1.01 * weight
        lens.follow(weight)
    again = TrackedRounding(weight, 7, 16)
    assert (lens(weight) - weight).norm() < 1.02 * (again(weight) - weight).norm()
    assert (rounded(weight, TrackedRounding(drawn(4, 64), 7, 16).step, 7, 16) - weight).norm() > 1.02 * (
        again(weight) - weight
    ).norm()


def test_activations_are_rounded_as_the_engine_does(tmp_path):
    """Against the operator itself, by ONNX Runtime."""
    nodes = [
        onnx.helper.make_node("DynamicQuantizeLinear", ["x"], ["codes", "step", "zero"]),
        onnx.helper.make_node("DequantizeLinear", ["codes", "step", "zero"], ["y"]),
    ]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, None]) for name in ("x", "y")]
    graph = onnx.helper.make_graph(nodes, "one", ends[:1], ends[1:])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for x in (drawn(50, 40), drawn(3, 3).abs() + 1, -drawn(3, 3).abs() - 1, torch.zeros(2, 2), 1e4 * drawn(9, 2)):
        (found,) = session.run(None, {"x": x.numpy()})
        torch.testing.assert_close(in_eight_bits(x), torch.from_numpy(found))


def test_ranges_by_hand():
    x = torch.arange(-50.0, 50.0).reshape(10, 10)  # a hundred numbers
    assert [float(end) for end in covering(x, 1.0)] == [-50, 49]
    assert [float(end) for end in covering(x, 0.9)] == [-45, 44]
    assert [float(end) for end in covering(x[:1, :1], 0.6)] == [-50, -50]
    assert [float(end) for end in widest([covering(x, 1.0), covering(3 * x, 0.9)])] == [-135, 132]


def test_static_measures_what_each_matrix_reads():
    model = tiny.model("bert")
    batches = CONTEXT.calibration(model, 3)
    with torch.no_grad():
        hidden = torch.cat([model.anatomy.inputs.forward(one.inputs)[one.mask.bool()] for one in batches])
    query = Static(batches=3).prepare(model, CONTEXT).anatomy.layers[0].part("query")
    assert isinstance(query, StaticInt8Linear) and isinstance(model.anatomy.tokens, Int8Embedding)
    step = float(hidden.max() - hidden.min()) / 255
    assert float(query.step) == pytest.approx(step, rel=1e-5)
    assert int(query.zero) == round(float(-hidden.min()) / step)


@pytest.mark.parametrize("family", ["albert", "bert", "cnn", "bilstm", "averaging"])
def test_static_answers_nearly_as_before_and_whatever_lies_beside(family):
    model = tiny.model(family)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Static().prepare(model, CONTEXT)
    after = tiny.logits(model, batch)
    assert (after - before).abs().max() < 0.15 * before.abs().max()
    one = Batch({name: value[2:3] for name, value in batch.inputs.items()}, batch.targets, batch.rows)
    torch.testing.assert_close(tiny.logits(model, one), after[2:3], atol=1e-4, rtol=0)


def test_a_packed_model_can_get_ranges():
    model = tiny.model("bert")
    model.apply_edit(Int8Edit())
    codes = model.anatomy.layers[0].part("query").weight.clone()
    query = Static().prepare(model, CONTEXT).anatomy.layers[0].part("query")
    assert torch.equal(query.weight, codes) and torch.equal(quantize_rows(query.to_dense().weight)[0].T, codes)


@pytest.mark.parametrize("family", ["bert", "electra", "mpnet", "albert", "distilbert", "roberta"])
def test_small_tables_and_the_inner_matrix_of_the_head_get_eight_bits(family, tmp_path):
    model = tiny.model(family)
    batch, before = tiny.batch(model), tiny.logits(model, tiny.batch(model))
    model = Int8Method().finish(model)
    packed = [type(model.network.get_submodule(path)) for path in small_weights(model.anatomy)]
    assert packed and set(packed) <= {Int8Linear, Int8Embedding}
    model.save(tmp_path)
    after = tiny.logits(model, batch)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), after)
    torch.testing.assert_close(after, before, atol=0.1, rtol=0)


def test_gptq_of_matrices_that_read_more_than_one_vector_a_token():
    """The inner matrices of a Kronecker product read a table for each token."""
    model = Kronecker(keep=0.5, flops=2.0).prepare(tiny.model("bert"), CONTEXT)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model = Gptq(bits=4, group=8, embeddings=False).prepare(model, CONTEXT)
    assert all(isinstance(model.network.get_submodule(path), StoredLinear) for path in model.anatomy.matrices())
    torch.testing.assert_close(tiny.logits(model, batch), before, atol=0.5, rtol=0)
