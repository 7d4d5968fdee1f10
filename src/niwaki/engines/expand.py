"""Operators of our own, which only live between the exporter and the file, written out as plain ONNX.

The exporter would take a second and more for each matrix that is unpacked by a dozen of its nodes; it writes one node here,
and this makes the dozen. An engine folds all that depends on constants alone when it loads the graph.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

DOMAIN = "niwaki"
FLOAT, INT8, INT32 = 1, 3, 6  # ONNX's numbers of types


def expand(graph: Any) -> None:
    """Changes an ONNX graph in place; operators of others stay."""
    kept = []
    for number, node in enumerate(graph.node):
        if node.domain == DOMAIN:
            writer = NodeWriter(f"{DOMAIN}_{number}", node)
            OPERATORS[node.op_type](writer, *node.input)
            kept += writer.nodes
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)


class NodeWriter:
    """Writes the nodes that stand for one; the last gets its output."""

    def __init__(self, name: str, node: Any) -> None:
        self.output = node.output[0]
        self.attributes = {attribute.name: attribute.i for attribute in node.attribute}
        self.nodes: list[Any] = []
        self.names: Iterator[str] = (f"{name}_{number}" for number in range(1_000_000))

    def __call__(self, kind: str, *inputs: str, last: bool = False, outputs: int = 1, **attributes: Any) -> Any:
        from onnx import helper

        names = [self.output] if last else [next(self.names) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, kind: type = np.int64) -> str:
        from onnx import numpy_helper

        return self("Constant", value=numpy_helper.from_array(np.array(value, dtype=kind)))


def unpack(writer: NodeWriter, words: str, scale: str) -> None:
    """`forms.digits`: (…, words) and (…, groups) to the weights (…, columns)."""
    base, group, columns, last = (writer.attributes[name] for name in ("base", "group", "columns", "rank"))

    def flat(value: str) -> str:
        whole = writer("Reshape", value, writer.constant([0] * (last - 1) + [-1]))
        return writer("Slice", whole, writer.constant([0]), writer.constant([columns]), writer.constant([last - 1]))

    whole = writer("Unsqueeze", writer("Cast", words, to=INT32), writer.constant([last]))
    shifted = writer(
        "Div", whole, writer.constant([base**place for place in range(writer.attributes["digits"])], np.int32)
    )
    digits = flat(writer("Mod", shifted, writer.constant(base, np.int32)))
    centred = writer("Sub", writer("Cast", digits, to=FLOAT), writer.constant((base - 1) / 2, np.float32))
    step = writer("Unsqueeze", writer("Cast", scale, to=FLOAT), writer.constant([last]))
    each = flat(writer("Expand", step, writer.constant([1] * last + [group])))
    writer("Mul", centred, each, last=True)


def spread(writer: NodeWriter, bits: str, values: str) -> None:
    """`forms.sparse`: the n-th bit that is set takes the n-th value, the others are 0."""
    rows, columns = writer.attributes["rows"], writer.attributes["columns"]
    whole = writer("Unsqueeze", writer("Cast", bits, to=INT32), writer.constant([1]))
    shifted = writer("Div", whole, writer.constant([1 << place for place in range(8)], np.int32))
    digits = writer("Reshape", writer("Mod", shifted, writer.constant(2, np.int32)), writer.constant([-1]))
    there = writer("Slice", digits, writer.constant([0]), writer.constant([rows * columns]), writer.constant([0]))
    count = writer("Sub", writer("CumSum", there, writer.constant(0)), writer.constant(1, np.int32))
    number = writer("Max", count, writer.constant(0, np.int32))
    taken = writer("Gather", writer("Reshape", values, writer.constant([-1])), number)
    flat = writer("Mul", taken, writer("Cast", there, to=FLOAT))
    writer("Reshape", flat, writer.constant([rows, columns]), last=True)


def rounded_product(writer: NodeWriter, x: str, weight: str, bias: str) -> None:
    """`forms.store`: weights (out, in) rounded to 8 bits by rows, activations at run time, a product of integers."""
    largest = writer("ReduceMax", writer("Abs", weight), axes=[1], keepdims=1)
    scale = writer("Div", writer("Max", largest, writer.constant(1e-12, np.float32)), writer.constant(127, np.float32))
    codes = writer("Cast", writer("Transpose", writer("Round", writer("Div", weight, scale)), perm=[1, 0]), to=INT8)
    numbers, step, zero = writer("DynamicQuantizeLinear", x, outputs=3)
    total = writer("Cast", writer("MatMulInteger", numbers, codes, zero), to=FLOAT)
    scaled = writer("Mul", total, writer("Mul", step, writer("Reshape", scale, writer.constant([-1]))))
    writer("Add", scaled, bias, last=True)


OPERATORS: dict[str, Callable[..., None]] = {"Unpack": unpack, "Spread": spread, "RoundedProduct": rounded_product}
