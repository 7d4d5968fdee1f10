"""Rewrites the integer products of an ONNX graph as float products with scales, which OpenVINO turns into integer products.

ONNX Runtime multiplies ONNX's operator for integer products as integers; OpenVINO converts it to floats. OpenVINO does use integers for
a plain product whose weights are integers times scales and, with a fixed range, whose inputs are rounded and scaled back.
Both compute the same sum.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


FLOAT = 1  # TensorProto.DataType


class QuantizedProduct(NamedTuple):
    """Names in the graph: 8-bit weights (in, out) and their scales (out,); whether inputs are rounded by a fixed range."""

    weight: str
    scale: str
    fixed: bool


def expose_scales(graph: "GraphProto") -> list[QuantizedProduct]:
    """Changes an ONNX graph in place. Returns the products that it changed; others stay as they are."""
    producers = {name: node for node in graph.node for name in node.output}
    consumers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            consumers.setdefault(name, []).append(node)
    found: list[QuantizedProduct] = []
    replacements: dict[str, list[NodeProto]] = {}  # by the output of the node that they replace
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (match := _match(node, producers, consumers)) is not None:
            product, last, nodes = match
            found.append(product)
            replacements[last.output[0]] = nodes
    used: list[NodeProto] = []
    for node in graph.node:
        used += replacements.get(node.output[0], [node]) if node.output else [node]
    _keep_used(graph, used)
    return found


def _match(
    node: "NodeProto", producers: "dict[str, NodeProto]", consumers: "dict[str, list[NodeProto]]"
) -> "tuple[QuantizedProduct, NodeProto, list[NodeProto]] | None":
    """The product that `models/packed` exports around a MatMulInteger, its last node, and the nodes that replace it."""
    rounding = producers.get(node.input[0]) if len(node.input) == 3 else None
    cast = _only_consumer(consumers, node.output[0], "Cast")
    last = _only_consumer(consumers, cast.output[0], "Mul") if cast is not None else None
    if rounding is None or cast is None or last is None:
        return None
    if not any(entry.i == FLOAT for entry in cast.attribute if entry.name == "to"):
        return None
    factor = producers.get(_other(last, cast.output[0]))
    fixed = rounding.op_type == "QuantizeLinear"
    if factor is None or factor.op_type != "Mul" or (not fixed and rounding.op_type != "DynamicQuantizeLinear"):
        return None
    step, zero = (rounding.input if fixed else rounding.output)[1:3]
    if step not in factor.input or zero != node.input[2]:
        return None
    product = QuantizedProduct(node.input[1], _other(factor, step), fixed)
    return product, last, _float_product(product, rounding, step, zero, last.output[0])


def _float_product(
    product: QuantizedProduct, rounding: "NodeProto", step: str, zero: str, output: str
) -> "list[NodeProto]":
    from onnx import helper

    nodes = [helper.make_node("DequantizeLinear", [product.weight, product.scale], [f"{output}_weight"], axis=1)]
    given = rounding.input[0]
    if product.fixed:
        given = f"{output}_given"
        nodes.append(helper.make_node("DequantizeLinear", [rounding.output[0], step, zero], [given]))
    return [*nodes, helper.make_node("MatMul", [given, f"{output}_weight"], [output])]


def _only_consumer(consumers: "dict[str, list[NodeProto]]", name: str, kind: str) -> "NodeProto | None":
    found = consumers.get(name, [])
    return found[0] if len(found) == 1 and found[0].op_type == kind else None


def _other(node: "NodeProto", name: str) -> str:
    first, second = node.input
    return second if first == name else first


def _keep_used(graph: "GraphProto", nodes: "list[NodeProto]") -> None:
    """The nodes that an output depends on, in their order."""
    wanted = {entry.name for entry in graph.output}
    used = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            used.append(node)
    del graph.node[:]
    graph.node.extend(reversed(used))
