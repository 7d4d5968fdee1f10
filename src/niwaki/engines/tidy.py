"""A graph without what only its exporter needed: names of nodes and of what flows between them, equal constants twice."""

from typing import Any


def tidy(graph: Any) -> None:
    """Changes an ONNX graph in place. Inputs, outputs and tables keep their names; the rest are numbered."""
    del graph.value_info[:]
    same = _merged_constants(graph)
    fixed = {entry.name for entry in (*graph.input, *graph.output, *graph.initializer)} | {""}
    short: dict[str, str] = {}
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                name = same.get(name, name)
                names[place] = name if name in fixed else short.setdefault(name, f"v{len(short)}")


def _merged_constants(graph: Any) -> dict[str, str]:
    """Takes out constants that are there already; each one's name and that of the first like it."""
    first: dict[bytes, str] = {}
    same: dict[str, str] = {}
    kept = []
    for node in graph.node:
        if node.op_type == "Constant":
            value = b"".join(attribute.SerializeToString(deterministic=True) for attribute in node.attribute)
            name = node.output[0]
            if first.setdefault(value, name) != name:
                same[name] = first[value]
                continue
        kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    return same
