"""Graphs of models that differ in their numbers alone are traced once, and filled with the numbers of each.

A saved model is described by its config and its blueprint, and by nothing else; so is its graph. Tests of runs make hundreds of models
with few descriptions, and tracing takes a sixth of their time. In tests/engines, where the exporter is under test, every graph is traced.
"""

import contextlib
import json
from collections.abc import Iterator

import onnx
import pytest
import torch
from onnx import numpy_helper

from niwaki.engines import export
from niwaki.models.model import Model

_traced: dict[str, onnx.ModelProto | None] = {}  # None: has numbers that are no tensor of the network


def trace(model: Model) -> bytes:
    """As `export.trace`."""
    key = description(model)
    if _traced.get(key):
        return filled(_traced[key], model).SerializeToString()
    content = traced_anew(model)
    if key not in _traced:
        graph = onnx.load_from_string(content)
        _traced[key] = graph if is_explained(graph, model) else None
    return content


traced_anew = export.trace


def description(model: Model) -> str:
    tensors = [(name, str(value.dtype), list(value.shape)) for name, value in model.network.state_dict().items()]
    return json.dumps([model.config(), model.blueprint.to_json(), tensors], sort_keys=True, default=repr)


def is_explained(graph: onnx.ModelProto, model: Model) -> bool:
    """Whether all its numbers are tensors of the network, unchanged."""
    state = model.network.state_dict()
    return all(
        (value := state.get(initializer.name.removeprefix("network."))) is not None
        and numpy_helper.to_array(initializer).tobytes() == raw(value)
        for initializer in graph.graph.initializer
    )


def filled(graph: onnx.ModelProto, model: Model) -> onnx.ModelProto:
    state = model.network.state_dict()
    for initializer in graph.graph.initializer:
        initializer.raw_data = raw(state[initializer.name.removeprefix("network.")])
    return graph


def raw(value: torch.Tensor) -> bytes:
    return value.detach().contiguous().numpy().tobytes()


@contextlib.contextmanager
def traced_once() -> Iterator[None]:
    """Within this block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(export, "trace", trace)
        yield
