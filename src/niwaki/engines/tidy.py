"""Makes an exported ONNX graph smaller: short names for values, none for nodes, and no duplicate constants."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto


def tidy(graph: "GraphProto") -> None:
    """Changes an ONNX graph in place. Inputs, outputs and initializers keep their names; other values are numbered."""
    del graph.value_info[:]
    duplicates = _merged_constants(graph)
    fixed = {entry.name for entry in (*graph.input, *graph.output, *graph.initializer)} | {""}
    short: dict[str, str] = {}
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                name = duplicates.get(name, name)
                names[place] = name if name in fixed else short.setdefault(name, f"v{len(short)}")


def _merged_constants(graph: "GraphProto") -> dict[str, str]:
    """Removes duplicate constants. Returns the name of each and that of the first equal constant."""
    names_by_value: dict[bytes, str] = {}
    duplicates: dict[str, str] = {}
    nodes = []
    for node in graph.node:
        if node.op_type == "Constant":
            value = b"".join(attribute.SerializeToString(deterministic=True) for attribute in node.attribute)
            name = node.output[0]
            if names_by_value.setdefault(value, name) != name:
                duplicates[name] = names_by_value[value]
                continue
        nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)
    return duplicates
