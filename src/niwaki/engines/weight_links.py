"""Replaces the weights in an ONNX graph by references to the safetensors file, so that they are stored once.

Checkpoints store some matrices in another layout than the network has in memory: side by side with others, transposed, or with more
dimensions (`models/joined_matrices.py`). The graph then refers to the stored tensor and slices and transposes it; engines do so once, while they load.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from niwaki.core.tensor_file import BYTES, TensorEntry, read_header
from niwaki.engines.graph_rules import EXTERNAL, WEIGHTS
from niwaki.models.adapting import stored_name
from niwaki.models.family import Family
from niwaki.models.trunk import trunk_name

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

SMALL = 64  # bytes of a tensor that may stay in the graph


def link_weights(
    model: "ModelProto", weights: Path, location: str = WEIGHTS, family: type[Family] | None = None
) -> None:
    """Replaces every initializer that is in the safetensors file by its offset there. `location` is the graph's path to it; `family` says
    what the saved tensors are called."""
    start, tensors = read_header(weights)
    with weights.open("rb") as file:
        for initializer in model.graph.initializer:
            name = initializer.name.removeprefix("network.")
            names = [name, trunk_name(name)]  # a head with deltas calls the trunk's tensors otherwise
            names += [stored_name(name, family)] if family else []
            entry = next((tensors[one] for one in names if one in tensors), None)
            if entry is None or initializer.external_data:
                continue
            file.seek(start + entry.first)
            if file.read(entry.last - entry.first) == raw_bytes(initializer):
                point_to(initializer, location, start, entry)
    link_parts(model.graph, weights, location)


def raw_bytes(initializer: "TensorProto") -> bytes:
    from onnx import numpy_helper

    return initializer.raw_data or numpy_helper.to_array(initializer).tobytes()


def point_to(initializer: "TensorProto", location: str, start: int, entry: TensorEntry) -> None:
    """Makes an initializer a stored tensor."""
    from onnx import TensorProto

    initializer.ClearField("raw_data")
    initializer.data_location = TensorProto.EXTERNAL
    place = (("location", location), ("offset", start + entry.first), ("length", entry.last - entry.first))
    for key, value in place:
        initializer.external_data.add(key=key, value=str(value))


# ── weights that are stored in another layout ───────────────────────────────────────────────────────────────────────


class Part(NamedTuple):
    """Rows (axis 0) or columns (axis 1) of a stored tensor, seen as a matrix. Columns are transposed."""

    axis: int
    first: int


def link_parts(graph: "GraphProto", weights: Path, location: str) -> None:
    """Computes every other weight from the stored tensor that contains its numbers, if there is one."""
    own = [one for one in graph.initializer if one.data_location != EXTERNAL and len(raw_bytes(one)) > SMALL]
    if not own:
        return
    start, tensors = read_header(weights)
    used = {int(place["offset"]) - start for place in places(graph) if place["location"] == location}
    unused = {name: entry for name, entry in tensors.items() if entry.first not in used and entry.numel}
    if not unused:
        return
    data = np.memmap(weights, dtype=np.uint8, mode="r", offset=start)
    nodes: list[NodeProto] = []
    for initializer in own:
        if (found := containing(initializer, unused, data)) is not None:
            name, part = found
            if part.axis == 0 and tensors[name].numel == math.prod(initializer.dims):  # the same under another name
                point_to(initializer, location, start, tensors[name])
                continue
            add_stored(graph, initializer, name, location, start, tensors[name])
            nodes += cutting_nodes(graph, initializer, name, part, tensors[name].shape)
            graph.initializer.remove(initializer)
    old = [*graph.node]
    del graph.node[:]
    graph.node.extend([*nodes, *old])


def places(graph: "GraphProto") -> Iterator[dict[str, str]]:
    """Where the tensors outside the graph are stored."""
    for initializer in graph.initializer:
        if initializer.data_location == EXTERNAL:
            yield {pair.key: pair.value for pair in initializer.external_data}


def containing(
    initializer: "TensorProto", tensors: Mapping[str, TensorEntry], data: np.ndarray
) -> tuple[str, Part] | None:
    """The stored tensor with the numbers of an initializer, and where they are in it."""
    own = np.frombuffer(raw_bytes(initializer), np.uint8)
    size = len(own) // math.prod(initializer.dims)
    matrix = as_matrix(own, tuple(initializer.dims), size)
    for name, entry in tensors.items():
        if BYTES[entry.dtype] != size or (len(entry.shape) == 1) != (len(initializer.dims) == 1):
            continue
        part = part_of(as_matrix(data[entry.first : entry.last], entry.shape, size), matrix)
        if part is not None:
            return name, part
    return None


def as_matrix(data: np.ndarray, shape: tuple[int, ...], size: int) -> np.ndarray:
    """Bytes as (first dimension, others) of unsigned integers, which compare NaN too."""
    return data.view(f"u{size}").reshape(shape[0] if shape else 1, -1)


def part_of(stored: np.ndarray, own: np.ndarray) -> Part | None:
    """Where a matrix stands in a stored one."""
    for axis, whole in enumerate((stored, stored.T)):
        if whole.shape[1] != own.shape[1] or len(whole) < len(own):
            continue
        for first in np.flatnonzero(whole[: len(whole) - len(own) + 1, 0] == own[0, 0]):
            if np.array_equal(whole[first : first + len(own)], own):
                return Part(axis, int(first))
    return None


def add_stored(
    graph: "GraphProto", like: "TensorProto", name: str, location: str, start: int, entry: TensorEntry
) -> None:
    """The stored tensor as an initializer, once."""
    if any(one.name == f"stored.{name}" for one in graph.initializer):
        return
    added = graph.initializer.add(name=f"stored.{name}", data_type=like.data_type, dims=entry.shape)
    point_to(added, location, start, entry)


def cutting_nodes(
    graph: "GraphProto", initializer: "TensorProto", name: str, part: Part, shape: tuple[int, ...]
) -> "Iterator[NodeProto]":
    """Nodes that make the value of an initializer from a stored tensor; it takes the initializer's name."""
    from onnx import helper

    own = tuple(initializer.dims)
    rows, columns = shape[0], math.prod(shape[1:])
    steps: list[tuple[str, list[list[int]]]] = []
    if len(shape) > 2:
        steps.append(("Reshape", [[rows, columns]]))
    if own[0] < (rows, columns)[part.axis]:
        steps.append(("Slice", [[part.first], [part.first + own[0]], [part.axis]]))
    if part.axis == 1:
        steps.append(("Transpose", []))
    if len(own) > 2:
        steps.append(("Reshape", [list(own)]))
    value = f"stored.{name}"
    for number, (operator, constants) in enumerate(steps):
        result = initializer.name if number == len(steps) - 1 else f"{initializer.name}.{number}"
        names = [constant(graph, numbers) for numbers in constants]
        yield helper.make_node(operator, [value, *names], [result])
        value = result


def constant(graph: "GraphProto", numbers: list[int]) -> str:
    """The name of an initializer with these numbers."""
    name = f"numbers.{'.'.join(map(str, numbers))}"
    if all(one.name != name for one in graph.initializer):
        data = np.array(numbers, dtype=np.int64).tobytes()
        graph.initializer.add(name=name, data_type=7, dims=[len(numbers)], raw_data=data)  # 7: INT64
    return name
