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
            pen = Pen(f"{DOMAIN}_{number}", node)
            OPERATORS[node.op_type](pen, *node.input)
            kept += pen.nodes
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)


class Pen:
    """Writes the nodes that stand for one; the last gets its output."""

    def __init__(self, name: str, node: Any) -> None:
        self.output = node.output[0]
        self.said = {attribute.name: attribute.i for attribute in node.attribute}
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


def unpack(pen: Pen, words: str, scale: str) -> None:
    """`forms.digits`: (…, words) and (…, groups) to the weights (…, columns)."""
    base, group, columns, last = (pen.said[name] for name in ("base", "group", "columns", "rank"))

    def flat(value: str) -> str:
        whole = pen("Reshape", value, pen.constant([0] * (last - 1) + [-1]))
        return pen("Slice", whole, pen.constant([0]), pen.constant([columns]), pen.constant([last - 1]))

    whole = pen("Unsqueeze", pen("Cast", words, to=INT32), pen.constant([last]))
    shifted = pen("Div", whole, pen.constant([base**place for place in range(pen.said["digits"])], np.int32))
    digits = flat(pen("Mod", shifted, pen.constant(base, np.int32)))
    centred = pen("Sub", pen("Cast", digits, to=FLOAT), pen.constant((base - 1) / 2, np.float32))
    step = pen("Unsqueeze", pen("Cast", scale, to=FLOAT), pen.constant([last]))
    each = flat(pen("Expand", step, pen.constant([1] * last + [group])))
    pen("Mul", centred, each, last=True)


def spread(pen: Pen, bits: str, values: str) -> None:
    """`forms.sparse`: the n-th bit that is set takes the n-th value, the others are 0."""
    rows, columns = pen.said["rows"], pen.said["columns"]
    whole = pen("Unsqueeze", pen("Cast", bits, to=INT32), pen.constant([1]))
    shifted = pen("Div", whole, pen.constant([1 << place for place in range(8)], np.int32))
    digits = pen("Reshape", pen("Mod", shifted, pen.constant(2, np.int32)), pen.constant([-1]))
    there = pen("Slice", digits, pen.constant([0]), pen.constant([rows * columns]), pen.constant([0]))
    count = pen("Sub", pen("CumSum", there, pen.constant(0)), pen.constant(1, np.int32))
    number = pen("Max", count, pen.constant(0, np.int32))
    taken = pen("Gather", pen("Reshape", values, pen.constant([-1])), number)
    flat = pen("Mul", taken, pen("Cast", there, to=FLOAT))
    pen("Reshape", flat, pen.constant([rows, columns]), last=True)


def rounded_product(pen: Pen, x: str, weight: str, bias: str) -> None:
    """`forms.store`: weights (out, in) rounded to 8 bits by rows, activations at run time, a product of integers."""
    largest = pen("ReduceMax", pen("Abs", weight), axes=[1], keepdims=1)
    scale = pen("Div", pen("Max", largest, pen.constant(1e-12, np.float32)), pen.constant(127, np.float32))
    codes = pen("Cast", pen("Transpose", pen("Round", pen("Div", weight, scale)), perm=[1, 0]), to=INT8)
    numbers, step, zero = pen("DynamicQuantizeLinear", x, outputs=3)
    total = pen("Cast", pen("MatMulInteger", numbers, codes, zero), to=FLOAT)
    scaled = pen("Mul", total, pen("Mul", step, pen("Reshape", scale, pen.constant([-1]))))
    pen("Add", scaled, bias, last=True)


OPERATORS: dict[str, Callable[..., None]] = {"Unpack": unpack, "Spread": spread, "RoundedProduct": rounded_product}
