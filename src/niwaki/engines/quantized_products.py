"""Integer products of an ONNX graph, said as floats with their rounding: for engines that find their own way back to integers.

ONNX has an operator for the product of integers, which ONNX Runtime multiplies as such; OpenVINO turns it into floats. What
OpenVINO multiplies as integers is a plain product whose weights are integers times scales, and, where their range was measured
beforehand, inputs that are rounded and scaled back. Both say the same sum.
"""

from typing import Any, NamedTuple

FLOAT = 1  # ONNX's number of the type


class QuantizedProduct(NamedTuple):
    """Names in the graph: 8-bit weights (in, out) and their scales (out,); whether inputs are rounded by a fixed range."""

    weight: str
    scale: str
    fixed: bool


def expose_scales(graph: Any) -> list[QuantizedProduct]:
    """Changes an ONNX graph in place, and tells the products that it changed. Others stay as they are."""
    maker = {name: node for node in graph.node for name in node.output}
    readers: dict[str, list[Any]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    found: list[QuantizedProduct] = []
    written: dict[str, list[Any]] = {}  # by the output of the node that they stand for
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (whole := _whole(node, maker, readers)) is not None:
            product, last, nodes = whole
            found.append(product)
            written[last.output[0]] = nodes
    kept: list[Any] = []
    for node in graph.node:
        kept += written.get(node.output[0], [node]) if node.output else [node]
    _keep_used(graph, kept)
    return found


def _whole(
    node: Any, maker: dict[str, Any], readers: dict[str, list[Any]]
) -> tuple[QuantizedProduct, Any, list[Any]] | None:
    """The product that `models.forms` write around a MatMulInteger, its last node, and what to write instead."""
    rounding = maker.get(node.input[0]) if len(node.input) == 3 else None
    cast = _only(readers, node.output[0], "Cast")
    last = _only(readers, cast.output[0], "Mul") if cast is not None else None
    if rounding is None or last is None or not any(entry.i == FLOAT for entry in cast.attribute if entry.name == "to"):
        return None
    factor = maker.get(_other(last, cast.output[0]))
    fixed = rounding.op_type == "QuantizeLinear"
    if factor is None or factor.op_type != "Mul" or (not fixed and rounding.op_type != "DynamicQuantizeLinear"):
        return None
    step, zero = (rounding.input if fixed else rounding.output)[1:3]
    if step not in factor.input or zero != node.input[2]:
        return None
    product = QuantizedProduct(node.input[1], _other(factor, step), fixed)
    return product, last, _plain(product, rounding, step, zero, last.output[0])


def _plain(product: QuantizedProduct, rounding: Any, step: str, zero: str, output: str) -> list[Any]:
    from onnx import helper

    nodes = [helper.make_node("DequantizeLinear", [product.weight, product.scale], [f"{output}_weight"], axis=1)]
    given = rounding.input[0]
    if product.fixed:
        given = f"{output}_given"
        nodes.append(helper.make_node("DequantizeLinear", [rounding.output[0], step, zero], [given]))
    return [*nodes, helper.make_node("MatMul", [given, f"{output}_weight"], [output])]


def _only(readers: dict[str, list[Any]], name: str, kind: str) -> Any:
    found = readers.get(name, [])
    return found[0] if len(found) == 1 and found[0].op_type == kind else None


def _other(node: Any, name: str) -> str:
    first, second = node.input
    return second if first == name else first


def _keep_used(graph: Any, nodes: list[Any]) -> None:
    """The nodes that an output hangs on, in their order."""
    wanted = {entry.name for entry in graph.output}
    kept = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            wanted.update(node.input)
            kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))
