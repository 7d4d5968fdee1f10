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

from niwaki.core.tensor_file import read_header
from niwaki.engines.exits import layer_ranges
from niwaki.engines.expand import DOMAIN, expand
from niwaki.engines.graph_rules import DECODER, ENCODER, EXIT_GRAPH, GRAPH, WEIGHTS
from niwaki.engines.tidy import tidy
from niwaki.models.decoding import DecoderLayer, KeyValue
from niwaki.models.export_modules import DecodeStepModule, EncodeModule, ForwardModule, LayerRangeModule, flatten_pairs
from niwaki.models.layer import has_attention
from niwaki.models.model import Model

OPSET = 17
Axes = dict[str, dict[int, str]]  # of each input, those that may have any length
INPUTS = ("ids", "mask", "types")
SOME_IDS = torch.ones(2, 5, dtype=torch.long)


def write_graph(model: Model, folder: Path) -> None:
    """Adds `model.onnx` to a folder that the model was saved in, and where it has exits a graph for every stretch; of a network that
    writes one that reads and one that writes on."""
    if model.anatomy.is_seq2seq:
        write(trace_encoder(model), folder, ENCODER)
        write(trace_decoder(model), folder, DECODER)
        return
    write(trace(model), folder, GRAPH)
    exits = getattr(model.network.config, "niwaki_exits", None)
    for number, (first, last) in enumerate(layer_ranges(exits, len(model.anatomy.order)) if exits else ()):
        write(trace_layers(model, first, last, number == 0), folder, EXIT_GRAPH.format(number))


def write(traced: bytes, folder: Path, name: str) -> None:
    graph = with_standard_operators(traced)
    tidy(graph.graph)
    link_weights(graph, folder / WEIGHTS)
    (folder / name).write_bytes(graph.SerializeToString())


def with_standard_operators(traced: bytes) -> Any:
    """The graph without operators of our own, as every engine reads it."""
    import onnx

    graph = onnx.load_from_string(traced)
    expand(graph.graph)
    for place in reversed([place for place, entry in enumerate(graph.opset_import) if entry.domain == DOMAIN]):
        del graph.opset_import[place]
    return graph


def trace(model: Model) -> bytes:
    """The lean forward pass as an ONNX graph."""
    return graph_of(ForwardModule(model.network, model.anatomy), model.anatomy.uses_token_types, ["logits"])


def trace_layers(model: Model, first: int, last: int, begins: bool) -> bytes:
    """The layers from one depth to another and the head, likewise."""
    module, anatomy = LayerRangeModule(model.network, model.anatomy, first, last, begins), model.anatomy
    outputs = ["logits", "left"] if last < len(anatomy.order) else ["logits"]
    if begins:
        return graph_of(module, anatomy.uses_token_types, outputs)
    return graph_with(module, {"hidden": torch.zeros(2, 5, anatomy.hidden_size), "mask": SOME_IDS}, outputs)


def trace_encoder(model: Model) -> bytes:
    """Of a network that writes: from what is read to what its decoder reads of it."""
    anatomy = model.anatomy
    module = EncodeModule(model.network, anatomy)
    depth = sum(has_attention(other) for _, other in anatomy.decoder_layers)
    return graph_of(module, anatomy.uses_token_types, names_of("memory", depth))


def trace_decoder(model: Model) -> bytes:
    """And one token further, with the keys and values of all that was read and written."""
    anatomy = model.anatomy
    memory = anatomy.encode(SOME_IDS, SOME_IDS, torch.zeros_like(SOME_IDS) if anatomy.uses_token_types else None)
    past = example_past(anatomy.decoder_layers, memory[0][0])
    names = names_of("memory", len(memory)), names_of("past", len(past))
    pairs = dict(zip([*names[0], *names[1]], flatten_pairs([*memory, *past]), strict=True))
    given = {"ids": SOME_IDS[:, :2], "place": torch.tensor([3]), "mask": SOME_IDS, **pairs}
    axes = {"ids": {0: "texts", 1: "hypotheses"}, "mask": {0: "texts", 1: "tokens"}}
    axes |= {name: {0: "texts", 2: "tokens"} for name in names[0]}
    axes |= {name: {0: "written", 2: "before"} for name in names[1]}
    return graph_with(DecodeStepModule(model.network, anatomy), given, ["scores", *names_of("now", len(past))], axes)


def example_past(decoder_layers: Sequence[DecoderLayer], like: torch.Tensor) -> list[KeyValue]:
    """Keys and values of three tokens that two hypotheses of each text wrote, of all attentions to what was written."""
    sizes = [(2 * len(like), own.heads, 3, own.head_size) for own, _ in decoder_layers if has_attention(own)]
    return [(like.new_zeros(size), like.new_zeros(size)) for size in sizes]


def names_of(what: str, depth: int) -> list[str]:
    return [f"{what}.{number}.{part}" for number in range(depth) for part in ("key", "value")]


def graph_of(module: torch.nn.Module, uses_token_types: bool, outputs: list[str]) -> bytes:
    names = INPUTS if uses_token_types else INPUTS[:2]
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
            module.eval(),
            tuple(given.values()),
            file,
            dynamo=False,
            opset_version=OPSET,
            do_constant_folding=False,
            input_names=list(given),
            output_names=outputs,
            dynamic_axes=axes,
        )
    return file.getvalue()


def link_weights(graph: Any, weights: Path) -> None:
    """Replaces every initializer that lies in the safetensors file by its place there."""
    start, tensors = read_header(weights)
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
