"""Writes a model's ONNX graph beside its weights. The graph holds no weights of its own: it points into model.safetensors.

So one file of weights serves torch and the engine, and what is packed on disk is what the kernel multiplies.
"""

import io
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from niwaki.core.tensor_file import header
from niwaki.engines.exits import stretches
from niwaki.engines.expand import DOMAIN, expand
from niwaki.engines.graph_rules import DECODER, ENCODER, GRAPH, STRETCH, WEIGHTS
from niwaki.engines.tidy import tidy
from niwaki.models.decoding import Pair, Unit
from niwaki.models.layer import reads
from niwaki.models.lean import Lean, Remember, Step, Stretch, flat
from niwaki.models.model import Model

OPSET = 17
Axes = dict[str, dict[int, str]]  # of each input, those that may have any length
INPUTS = ("ids", "mask", "types")
SOME_IDS = torch.ones(2, 5, dtype=torch.long)


def write_graph(model: Model, folder: Path) -> None:
    """Adds `model.onnx` to a folder that the model was saved in, and where it has exits a graph for every stretch; of a network that
    writes one that reads and one that writes on."""
    if model.anatomy.writes:
        write(trace_encoder(model), folder, ENCODER)
        write(trace_decoder(model), folder, DECODER)
        return
    write(trace(model), folder, GRAPH)
    exits = getattr(model.network.config, "niwaki_exits", None)
    for number, (first, last) in enumerate(stretches(exits, len(model.anatomy.order)) if exits else ()):
        write(trace_stretch(model, first, last, number == 0), folder, STRETCH.format(number))


def write(traced: bytes, folder: Path, name: str) -> None:
    graph = written_out(traced)
    tidy(graph.graph)
    point_into(graph, folder / WEIGHTS)
    (folder / name).write_bytes(graph.SerializeToString())


def written_out(traced: bytes) -> Any:
    """The graph without operators of our own, as every engine reads it."""
    import onnx

    graph = onnx.load_from_string(traced)
    expand(graph.graph)
    for place in reversed([place for place, entry in enumerate(graph.opset_import) if entry.domain == DOMAIN]):
        del graph.opset_import[place]
    return graph


def trace(model: Model) -> bytes:
    """The lean forward pass as an ONNX graph."""
    return graph_of(Lean(model.network, model.anatomy), model.anatomy.uses_types, ["logits"])


def trace_stretch(model: Model, first: int, last: int, begins: bool) -> bytes:
    """The layers from one depth to another and the head, likewise."""
    module, anatomy = Stretch(model.network, model.anatomy, first, last, begins), model.anatomy
    outputs = ["logits", "left"] if last < len(anatomy.order) else ["logits"]
    if begins:
        return graph_of(module, anatomy.uses_types, outputs)
    return graph_with(module, {"hidden": torch.zeros(2, 5, anatomy.width), "mask": SOME_IDS}, outputs)


def trace_encoder(model: Model) -> bytes:
    """Of a network that writes: from what is read to what its decoder reads of it."""
    anatomy = model.anatomy
    module = Remember(model.network, anatomy)
    depth = sum(reads(other) for _, other in anatomy.units)
    return graph_of(module, anatomy.uses_types, names_of("memory", depth))


def trace_decoder(model: Model) -> bytes:
    """And one token further, with the keys and values of all that was read and written."""
    anatomy = model.anatomy
    memory = anatomy.remember(SOME_IDS, SOME_IDS, torch.zeros_like(SOME_IDS) if anatomy.uses_types else None)
    past = some_past(anatomy.units, memory[0][0])
    names = names_of("memory", len(memory)), names_of("past", len(past))
    pairs = dict(zip([*names[0], *names[1]], flat([*memory, *past]), strict=True))
    given = {"ids": SOME_IDS[:, :2], "place": torch.tensor([3]), "mask": SOME_IDS, **pairs}
    axes = {"ids": {0: "texts", 1: "hypotheses"}, "mask": {0: "texts", 1: "tokens"}}
    axes |= {name: {0: "texts", 2: "tokens"} for name in names[0]}
    axes |= {name: {0: "written", 2: "before"} for name in names[1]}
    return graph_with(Step(model.network, anatomy), given, ["scores", *names_of("now", len(past))], axes)


def some_past(units: Sequence[Unit], like: torch.Tensor) -> list[Pair]:
    """Keys and values of three tokens that two hypotheses of each text wrote, of all attentions to what was written."""
    sizes = [(2 * len(like), own.heads, 3, own.head_width) for own, _ in units if reads(own)]
    return [(like.new_zeros(size), like.new_zeros(size)) for size in sizes]


def names_of(what: str, depth: int) -> list[str]:
    return [f"{what}.{number}.{part}" for number in range(depth) for part in ("key", "value")]


def graph_of(module: torch.nn.Module, uses_types: bool, outputs: list[str]) -> bytes:
    names = INPUTS if uses_types else INPUTS[:2]
    arguments = (SOME_IDS, SOME_IDS, torch.zeros_like(SOME_IDS))
    return graph_with(module, dict(zip(names, arguments, strict=False)), outputs)


def graph_with(
    module: torch.nn.Module, given: dict[str, torch.Tensor], outputs: list[str], axes: Axes | None = None
) -> bytes:
    """An ONNX graph for any batch and length. Nothing is folded, so that weights keep their names."""
    axes = axes or {name: {0: "batch", 1: "tokens"} for name in given}
    file: Any = io.BytesIO()
    # the older exporter: it keeps the names of weights and reads the symbolic form of packed products (docs/concepts.md)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(  # gives back the mode that it finds
            module.eval(), tuple(given.values()), file, dynamo=False, opset_version=OPSET, do_constant_folding=False,
            input_names=list(given), output_names=outputs, dynamic_axes=axes,
        )  # fmt: skip
    return file.getvalue()


def point_into(graph: Any, weights: Path) -> None:
    """Replaces every initializer that lies in the safetensors file by its place there."""
    start, tensors = header(weights)
    with weights.open("rb") as file:
        for initializer in graph.graph.initializer:
            entry = tensors.get(initializer.name.removeprefix("network."))
            if entry is None:
                continue
            first, last = entry.first, entry.last
            file.seek(start + first)
            if file.read(last - first) != raw_bytes(initializer):
                continue  # the exporter changed it: leave its own copy in
            initializer.ClearField("raw_data")
            initializer.data_location = 1  # EXTERNAL
            for key, value in (("location", WEIGHTS), ("offset", start + first), ("length", last - first)):
                initializer.external_data.add(key=key, value=str(value))


def raw_bytes(initializer: Any) -> bytes:
    from onnx import numpy_helper

    return initializer.raw_data or numpy_helper.to_array(initializer).tobytes()
