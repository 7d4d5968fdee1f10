"""Graphs that give no logits, or those of another model, are rejected before or at their first answer."""

import shutil

import numpy as np
import onnx
import pytest
from onnx import helper

import tiny
from engines.kinds import saved
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    return saved(tiny.model("averaging", seed=2), tmp_path_factory.mktemp("sound") / "model")


def without_outputs(graph):
    del graph.output[:]


def without_nodes(graph):
    del graph.node[:]


def an_input_for_an_output(graph):
    graph.output[0].CopyFrom(graph.input[0])


def one_input_more(graph):
    graph.input.add().CopyFrom(graph.input[0])
    graph.input[-1].name = "extra"


def all_in_one_number(graph):
    _behind(graph, helper.make_node("ReduceSum", [graph.output[0].name], ["new"]))


def twice_the_labels(graph):
    _behind(graph, helper.make_node("Concat", [graph.output[0].name] * 2, ["new"], axis=1))


def twice_the_texts(graph):
    _behind(graph, helper.make_node("Concat", [graph.output[0].name] * 2, ["new"], axis=0))


def whole_numbers(graph):
    _behind(graph, helper.make_node("Cast", [graph.output[0].name], ["new"], to=onnx.TensorProto.INT64))


def one_dimension_more(graph):
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "axes"))
    _behind(graph, helper.make_node("Unsqueeze", [graph.output[0].name, "axes"], ["new"]))


def _behind(graph, node):
    graph.node.append(node)
    graph.output[0].name = node.output[0]
    graph.output[0].ClearField("type")


CHANGES = [
    without_outputs,
    without_nodes,
    an_input_for_an_output,
    one_input_more,
    all_in_one_number,
    twice_the_labels,
    twice_the_texts,
    whole_numbers,
    one_dimension_more,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("count", [1, 3])
def test_a_graph_that_gives_no_logits_is_rejected(sound, tmp_path, change, count):
    folder = shutil.copytree(sound, tmp_path / "model")
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    change(model.graph)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(InputError):
        Predictor(folder, "onnx").predict(["a good film"] * count)
