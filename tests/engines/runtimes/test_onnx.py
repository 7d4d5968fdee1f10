"""ONNX Runtime: inputs and outputs of graphs, exits, and which models it runs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.graph_rules import DECODER, ENCODER, GRAPH
from niwaki.engines.runtimes.onnx import Onnx


@pytest.fixture(scope="module")
def model():
    return tiny.model("bert", layers=2)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return tiny.with_graphs(model, tmp_path_factory.mktemp("onnx") / "model")


def arrays_of(model):
    return {name: value.numpy() for name, value in tiny.batch(model).inputs.items()}


def test_logits_are_those_of_torch(model, folder):
    engine = Onnx(folder, 1)
    assert engine.inputs == ("input_ids", "attention_mask", "token_type_ids") and not engine.generates
    wanted = tiny.logits(model, tiny.batch(model)).numpy()
    np.testing.assert_allclose(engine.logits(arrays_of(model)), wanted, atol=1e-5)


def test_inputs_that_the_graph_does_not_read_are_left_out(tmp_path):
    model = tiny.model("distilbert", layers=1)
    engine = Onnx(tiny.with_graphs(model, tmp_path / "model"), 1)
    arrays = arrays_of(model)
    assert engine.inputs == ("input_ids", "attention_mask")
    more = {**arrays, "token_type_ids": np.ones_like(arrays["input_ids"])}
    assert np.array_equal(engine.logits(more), engine.logits(arrays))


def rewritten(folder, target, change):
    """A copy of the folder whose graph is changed."""
    tiny.with_graphs(tiny.model("bert", layers=2), target)
    graph = onnx.load(str(folder / GRAPH), load_external_data=False)
    change(graph.graph)
    (target / GRAPH).write_bytes(graph.SerializeToString())
    return target


def test_unknown_inputs_are_rejected_by_name(folder, tmp_path):
    def add(graph):
        graph.input.append(helper.make_tensor_value_info("temperature", TensorProto.FLOAT, [1]))

    with pytest.raises(InputError, match=r"its graph has an input 'temperature' that niwaki does not provide; `niwaki"):
        Onnx(rewritten(folder, tmp_path / "model", add), 1)


def test_an_output_that_holds_no_logits_is_rejected(model, folder, tmp_path):
    def sum_all(graph):
        (output,) = graph.output
        graph.node.append(helper.make_node("ReduceSum", [output.name], ["total"], keepdims=0))
        del graph.output[:]
        graph.output.append(helper.make_tensor_value_info("total", TensorProto.FLOAT, []))

    engine = Onnx(rewritten(folder, tmp_path / "model", sum_all), 1)
    with pytest.raises(InputError, match=r"model\.onnx: its first output, float32 of shape \(\), holds no logits"):
        engine.logits(arrays_of(model))


def test_the_reason_for_a_folder_without_graphs(folder, tmp_path):
    assert Onnx.unsupported_reason(folder) is None
    assert Onnx.unsupported_reason(tmp_path) == f"{tmp_path}: has no {GRAPH}; it was not saved by niwaki"
    (tmp_path / ENCODER).write_bytes(b"")
    assert Onnx.unsupported_reason(tmp_path)
    (tmp_path / DECODER).write_bytes(b"")
    assert Onnx.unsupported_reason(tmp_path) is None


def test_threads_that_reach_an_exit_at_once_open_its_sessions_once(tmp_path):
    model = tiny.model("bert", layers=2)
    model.network.config.niwaki_exits = [1]
    engine = Onnx(tiny.deployed(model, tmp_path / "model"), 2)
    batch = engine.start_layers(encoded(engine), np.arange(2), 0)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: engine.run_layers(batch, 0, [1]), range(8)))
    assert len(engine._exit_sessions) == 2
    assert all(np.array_equal(logits, found[0][0]) for logits, _ in found)
    logits, hidden = engine.run_layers(batch, 0, [1])
    last, nothing = engine.run_layers(batch.select(np.array([True, True]), hidden), 1, [1])
    assert logits.shape == last.shape == (2, 2) and len(nothing) == 0


def encoded(engine):
    from niwaki.answers.label import Label

    return Label().encode(["a film", "the plot was dull."], tiny.tokenizer().backend_tokenizer, 32)
