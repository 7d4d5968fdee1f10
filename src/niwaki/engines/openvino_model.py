"""Builds an OpenVINO model from a checked ONNX graph and the weights file next to it.

OpenVINO never opens a file here: weights are inputs of the graph that it reads, and are then replaced by the bytes of
model.safetensors. Packed weights are unpacked once, so that OpenVINO can multiply them as 8 bits.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from niwaki.core.errors import InputError, first_line
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import read_header
from niwaki.engines.graph_rules import EXTERNAL, WEIGHTS, check_graph, graph_name
from niwaki.engines.quantized_products import QuantizedProduct, expose_scales
from niwaki.engines.runtime import KNOWN_INPUTS

if TYPE_CHECKING:
    import openvino
    from onnx import GraphProto, ModelProto


DTYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I32": np.int32, "I64": np.int64}


def read_openvino_model(folder: Path, core: "openvino.Core") -> tuple["openvino.Model", list[int]]:
    """The model, and the input width of each product with 8-bit weights whose inputs are rounded at run time."""
    import onnx

    name = graph_name(folder)
    where = folder / name
    graph_model = onnx.load_from_string(check_graph(folder, name, WEIGHTS))
    tables = _tables(graph_model.graph, file_inside(folder, WEIGHTS), where)
    try:
        products = expose_scales(graph_model.graph)
        model = core.read_model(_with_weights_as_inputs(graph_model, tables), b"")
        widths = [_width(model, product) for product in products if not product.fixed]
        unpack(model, core, tables, products)
        fill(model, tables)
    except (RuntimeError, ValueError, IndexError) as error:
        raise InputError(f"{where}: cannot be loaded by OpenVINO ({first_line(error)})") from None
    if not {entry.any_name for entry in model.inputs} <= KNOWN_INPUTS or len(model.outputs) not in (1, 2):
        raise InputError(f"{where}: its inputs and outputs are not those that niwaki writes")
    return model, widths


def _width(model: "openvino.Model", product: QuantizedProduct) -> int:
    (place,) = places(model, {product.weight})
    return int(place.get_partial_shape()[0].get_length())


def places(model: "openvino.Model", names: set[str]) -> list["openvino.Output"]:
    """The outputs in the model that have these names in the graph."""
    return [place for node in model.get_ops() for place in node.outputs() if names.intersection(place.get_names())]


def _tables(graph: "GraphProto", weights: Path, where: Path) -> dict[str, np.ndarray]:
    """The initializers in the weights file, memory-mapped. Their shapes must match the file, because OpenVINO trusts them."""
    from onnx import helper

    outside = [table for table in graph.initializer if table.data_location == EXTERNAL]
    data = np.asarray(np.memmap(weights, np.uint8, "c")) if outside else np.zeros(0, np.uint8)
    start, tensors = read_header(weights)
    by_offset = {
        (start + tensor.first, shape): tensor for tensor in tensors.values() for shape in _read_as(tensor.shape)
    }
    found = {}
    for table in outside:
        place = {entry.key: int(entry.value) for entry in table.external_data if entry.key != "location"}
        tensor = by_offset.get((place["offset"], tuple(table.dims)))
        kind = DTYPES.get(tensor.dtype) if tensor else None
        if kind is None or helper.np_dtype_to_tensor_dtype(np.dtype(kind)) != table.data_type:
            raise InputError(f"{where}: table '{table.name[:60]}' has another shape or type than in {WEIGHTS}")
        part = data[place["offset"] : place["offset"] + place["length"]]
        found[table.name] = np.require(part.view(kind).reshape(table.dims), requirements="A")
    return found


def _read_as(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The shapes that a graph may read a stored tensor in: its own, a matrix of a convolution's filters, a table without an axis of one row."""
    if len(shape) < 3:
        return [shape]
    return [shape, (shape[0], math.prod(shape[1:])), *([shape[1:]] if shape[0] == 1 else [])]


def _with_weights_as_inputs(graph_model: "ModelProto", tables: dict[str, np.ndarray]) -> bytes:
    """The graph with matrices as inputs, and with the values of small initializers, which OpenVINO reads at once."""
    from onnx import helper, numpy_helper

    initializers = []
    for table in graph_model.graph.initializer:
        values = tables.get(table.name)
        if values is not None and values.ndim > 1:
            graph_model.graph.input.append(helper.make_tensor_value_info(table.name, table.data_type, table.dims))
        else:
            initializers.append(table if values is None else numpy_helper.from_array(values, table.name))
    del graph_model.graph.initializer[:]
    graph_model.graph.initializer.extend(initializers)
    return graph_model.SerializeToString()


def unpack(
    model: "openvino.Model", core: "openvino.Core", tables: dict[str, np.ndarray], products: list[QuantizedProduct]
) -> None:
    """Replaces packed weights and their scales by unpacked ones, so that OpenVINO sees 8-bit matrices."""
    import openvino
    from openvino import opset13

    wanted = {name for product in products for name in (product.weight, product.scale)} - set(tables)
    packed = places(model, wanted)
    if not packed:
        return
    parameters = [node for node in _ancestors(packed) if node.get_type_name() == "Parameter"]
    compiled = core.compile_model(
        openvino.Model(packed, parameters, "unpack"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    values = compiled([tables[parameter.get_friendly_name()] for parameter in parameters])
    for number, place in enumerate(packed):
        place.replace(opset13.constant(values[number].copy()).output(0))


def _ancestors(places: list["openvino.Output"]) -> list["openvino.Node"]:
    """All nodes that these outputs depend on."""
    found: dict[str, openvino.Node] = {}
    waiting = [place.get_node() for place in places]
    while waiting:
        node = waiting.pop()
        if node.get_name() not in found:
            found[node.get_name()] = node
            waiting += [place.get_node() for place in node.input_values()]
    return list(found.values())


def fill(model: "openvino.Model", tables: dict[str, np.ndarray]) -> None:
    """Replaces the inputs that stand for weights by the weights."""
    from openvino import opset13

    for parameter in model.get_parameters():
        values = tables.get(parameter.get_friendly_name())
        if values is not None:
            constant = opset13.constant(values, shared_memory=values.size > 0)
            parameter.output(0).replace(constant.output(0))
            model.remove_parameter(parameter)
    model.validate_nodes_and_infer_types()
