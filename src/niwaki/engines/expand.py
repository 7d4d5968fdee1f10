"""Replaces niwaki's own ONNX operators, which packed weights are exported as, by standard ones.

torch's exporter takes over a second for each matrix that a dozen nodes unpack. It therefore writes one node of ours, and this
module replaces it by the dozen. Engines fold everything that depends on constants only when they load the graph.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto


DOMAIN = "niwaki"
FLOAT, INT8, INT32 = 1, 3, 6  # TensorProto.DataType


def expand(graph: "GraphProto") -> None:
    """Changes an ONNX graph in place; standard operators stay."""
    nodes = []
    for number, node in enumerate(graph.node):
        if node.domain == DOMAIN:
            builder = NodeBuilder(f"{DOMAIN}_{number}", node)
            OPERATORS[node.op_type](builder, *node.input)
            nodes += builder.nodes
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


class NodeBuilder:
    """Builds the nodes that replace one node; the last one gets its output."""

    def __init__(self, name: str, node: "NodeProto") -> None:
        self.output = node.output[0]
        self.attributes = {attribute.name: attribute.i for attribute in node.attribute}
        self.nodes: list[NodeProto] = []
        self.names: Iterator[str] = (f"{name}_{number}" for number in range(1_000_000))

    def __call__(self, kind: str, *inputs: str, last: bool = False, outputs: int = 1, **attributes: Any) -> Any:
        from onnx import helper

        names = [self.output] if last else [next(self.names) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value: object, kind: type = np.int64) -> str:
        from onnx import numpy_helper

        return self("Constant", value=numpy_helper.from_array(np.array(value, dtype=kind)))


def unpack(builder: NodeBuilder, words: str, scale: str) -> None:
    """`models/packed/low_bit.py`: (…, words) and (…, groups) to the weights (…, columns)."""
    base, group, columns, last = (builder.attributes[name] for name in ("base", "group", "columns", "rank"))

    def flat(value: str) -> str:
        whole = builder("Reshape", value, builder.constant([0] * (last - 1) + [-1]))
        return builder("Slice", whole, builder.constant([0]), builder.constant([columns]), builder.constant([last - 1]))

    whole = builder("Unsqueeze", builder("Cast", words, to=INT32), builder.constant([last]))
    shifted = builder(
        "Div", whole, builder.constant([base**place for place in range(builder.attributes["digits"])], np.int32)
    )
    digits = flat(builder("Mod", shifted, builder.constant(base, np.int32)))
    centred = builder("Sub", builder("Cast", digits, to=FLOAT), builder.constant((base - 1) / 2, np.float32))
    step = builder("Unsqueeze", builder("Cast", scale, to=FLOAT), builder.constant([last]))
    each = flat(builder("Expand", step, builder.constant([1] * last + [group])))
    builder("Mul", centred, each, last=True)


def spread(builder: NodeBuilder, bits: str, values: str) -> None:
    """`models/packed/sparse.py`: the n-th set bit takes the n-th value, the others are 0."""
    rows, columns = builder.attributes["rows"], builder.attributes["columns"]
    whole = builder("Unsqueeze", builder("Cast", bits, to=INT32), builder.constant([1]))
    shifted = builder("Div", whole, builder.constant([1 << place for place in range(8)], np.int32))
    digits = builder("Reshape", builder("Mod", shifted, builder.constant(2, np.int32)), builder.constant([-1]))
    there = builder("Slice", digits, builder.constant([0]), builder.constant([rows * columns]), builder.constant([0]))
    count = builder("Sub", builder("CumSum", there, builder.constant(0)), builder.constant(1, np.int32))
    number = builder("Max", count, builder.constant(0, np.int32))
    taken = builder("Gather", builder("Reshape", values, builder.constant([-1])), number)
    flat = builder("Mul", taken, builder("Cast", there, to=FLOAT))
    builder("Reshape", flat, builder.constant([rows, columns]), last=True)


def rounded_product(builder: NodeBuilder, x: str, weight: str, bias: str) -> None:
    """`models/packed/store.py`: weights (out, in) rounded to 8 bits by row, activations at run time, an integer product."""
    largest = builder("ReduceMax", builder("Abs", weight), axes=[1], keepdims=1)
    scale = builder(
        "Div", builder("Max", largest, builder.constant(1e-12, np.float32)), builder.constant(127, np.float32)
    )
    codes = builder("Cast", builder("Transpose", builder("Round", builder("Div", weight, scale)), perm=[1, 0]), to=INT8)
    numbers, step, zero = builder("DynamicQuantizeLinear", x, outputs=3)
    total = builder("Cast", builder("MatMulInteger", numbers, codes, zero), to=FLOAT)
    scaled = builder("Mul", total, builder("Mul", step, builder("Reshape", scale, builder.constant([-1]))))
    builder("Add", scaled, bias, last=True)


OPERATORS: dict[str, Callable[..., None]] = {"Unpack": unpack, "Spread": spread, "RoundedProduct": rounded_product}
