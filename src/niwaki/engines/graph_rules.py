"""Checks an ONNX graph before an engine reads it: only standard operators, and no weights except those next to it.

External data may name any file that the user can read, so it must be a tensor of model.safetensors. The graphs that niwaki
writes are a few hundred nodes of standard operators, without subgraphs, functions or custom domains; anything else is rejected.
Initializers inside the graph are small, and so are the tensors that it builds from constants, because engines compute those
while they load.
"""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.path_safety import file_inside
from niwaki.core.tensor_file import read_header
from niwaki.engines.onnx_schema import numbers_of, parse_model

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto


GRAPH, EXIT_GRAPH, WEIGHTS = "model.onnx", "exit-{}.onnx", "model.safetensors"
HUB_GRAPH = "niwaki.onnx"  # the same in the layout for the Hub (`hub_layout`)
ENCODER, DECODER = "encoder.onnx", "decoder.onnx"  # of a network that generates text
MAX_BYTES, MAX_NODES, MAX_INITIALIZERS = 4 << 20, 50_000, 20_000
MAX_INLINE = 1 << 16  # numbers of an initializer inside the graph
MAX_FROM_CONSTANTS = 1 << 24  # numbers of a tensor that is built from a constant shape
EXTERNAL = 1
LOCATION_KEYS = {"location", "offset", "length"}
OPERATORS = {
    "Abs",
    "Add",
    "And",
    "Cast",
    "Clip",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Cos",
    "CumSum",
    "DequantizeLinear",
    "Div",
    "DynamicQuantizeLinear",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "Flatten",
    "Floor",
    "Gather",
    "GatherElements",
    "Gelu",
    "Gemm",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "LSTM",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "MatMul",
    "MatMulInteger",
    "Max",
    "Min",
    "Mish",
    "Mod",
    "Mul",
    "Neg",
    "NonZero",
    "Not",
    "Or",
    "Pad",
    "Pow",
    "QuantizeLinear",
    "Range",
    "Reciprocal",
    "ReduceMax",
    "ReduceMean",
    "ReduceSum",
    "Relu",
    "Reshape",
    "Round",
    "Shape",
    "Sigmoid",
    "Sign",
    "Sin",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tanh",
    "TopK",
    "Transpose",
    "Unsqueeze",
    "Where",
}
SHAPE_INPUTS = {"ConstantOfShape": 0, "Expand": 1, "Reshape": 1}  # operator → which of its inputs is a shape


def graph_name(folder: Path) -> str:
    """The name of the graph in a model folder."""
    return HUB_GRAPH if not (folder / GRAPH).is_file() and (folder / HUB_GRAPH).is_file() else GRAPH


def check_graph(folder: Path, name: str, *weights: str) -> bytes:
    """The bytes of a graph that passes the checks, so that what is loaded is what was checked. It may refer to the files `weights`."""
    path = file_inside(folder, name)
    data = strict_json.read_bytes(path, MAX_BYTES)
    try:
        _check(parse_model(data), {location: file_inside(folder, location) for location in weights})
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return data


def _check(model: "ModelProto", weights: dict[str, Path]) -> None:
    domains = [entry.domain for entry in model.opset_import if entry.domain not in ("", "ai.onnx")]
    if domains or model.functions or model.training_info:
        raise ValueError(
            f"uses {f'operators of {domains[0][:60]!r}' if domains else 'functions'}, which niwaki never writes"
        )
    graph = model.graph
    if len(graph.node) > MAX_NODES or graph.sparse_initializer:
        raise ValueError(f"has more than {MAX_NODES} nodes, or sparse initializers, which niwaki never writes")
    for node in graph.node:
        _check_node(node)
    _check_order(graph)
    _check_tables(graph, weights)
    _check_shapes(graph)


def _check_node(node: "NodeProto") -> None:
    if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
        raise ValueError(
            f"operator {node.domain[:40]}{'.' if node.domain else ''}{node.op_type[:60]!r} is not one that niwaki writes"
        )
    for attribute in node.attribute:
        if (
            attribute.HasField("g")
            or attribute.graphs
            or attribute.HasField("sparse_tensor")
            or attribute.sparse_tensors
        ):
            raise ValueError(f"operator {node.op_type} contains a subgraph, which niwaki never writes")
        for tensor in (attribute.t, *attribute.tensors):
            _check_inline(tensor, f"a constant of {node.op_type}")


def _check_order(graph: "GraphProto") -> None:
    """Each node must read values that are defined before it, and define new ones: a cycle could hang an engine."""
    known = {"", *(entry.name for entry in (*graph.input, *graph.initializer))}
    for node in graph.node:
        given = [name for name in node.output if name]
        if not known.issuperset(node.input) or not known.isdisjoint(given) or len(set(given)) < len(given):
            raise ValueError(f"operator {node.op_type} reads a value that is defined later, or defines one twice")
        known.update(given)
    if not graph.output:
        raise ValueError("has no output")
    if not known.issuperset(entry.name for entry in graph.output):
        raise ValueError("no operator computes its output")


def _check_inline(tensor: "TensorProto", what: str) -> None:
    if tensor.data_location == EXTERNAL or tensor.external_data:
        raise ValueError(f"{what} lies in another file")
    if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > MAX_INLINE:
        raise ValueError(f"{what} has more than {MAX_INLINE} numbers, which belong in the weights file")


def _check_tables(graph: "GraphProto", weights: dict[str, Path]) -> None:
    if len(graph.initializer) > MAX_INITIALIZERS:
        raise ValueError(f"has more than {MAX_INITIALIZERS} tables")
    places = {location: _tensor_places(path) for location, path in weights.items() if path.exists()}
    for table in graph.initializer:
        if table.data_location != EXTERNAL and not table.external_data:
            _check_inline(table, f"table '{table.name[:60]}'")
            continue
        stated = {entry.key: entry.value for entry in table.external_data}
        location = stated.get("location", "")
        if len(stated) != len(table.external_data) or not set(stated) <= LOCATION_KEYS or location not in weights:
            raise ValueError(
                f"table '{table.name[:60]}' lies in {location[:60]!r}; only {' and '.join(weights)} is read"
            )
        first, length = _number(stated.get("offset")), _number(stated.get("length"))
        if places.get(location, {}).get(first) != first + length:
            raise ValueError(f"table '{table.name[:60]}' is not one of the tensors of {location}")


def _tensor_places(weights: Path) -> dict[int, int]:
    """Where each tensor of a file begins and ends."""
    start, tensors = read_header(weights)
    return {start + tensor.first: start + tensor.last for tensor in tensors.values()}


def _number(text: str | None) -> int:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ValueError("the offset and length of an initializer must be whole numbers")
    return int(text)


def _check_shapes(graph: "GraphProto") -> None:
    """Bounds the tensors that are built from constant shapes. Shapes that depend on the input are bounded by these."""
    constants = {
        node.output[0]: attribute.t
        for node in graph.node
        if node.op_type == "Constant" and node.output
        for attribute in node.attribute
        if attribute.name == "value"
    }
    constants |= {table.name: table for table in graph.initializer if table.data_location != EXTERNAL}
    for node in graph.node:
        place = SHAPE_INPUTS.get(node.op_type)
        if node.op_type == "Range":
            names = list(node.input)
        else:
            names = list(node.input)[place : place + 1] if place is not None else []
        for name in names:
            if name in constants:
                sizes = [abs(int(size)) for size in numbers_of(constants[name])]
                if math.prod(size for size in sizes if size) > MAX_FROM_CONSTANTS:
                    raise ValueError(
                        f"operator {node.op_type} builds more than {MAX_FROM_CONSTANTS} numbers from a constant shape"
                    )
