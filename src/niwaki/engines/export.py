"""Writes a model's ONNX graph next to its weights. The graph holds no weights of its own: it points into model.safetensors.

One file of weights therefore serves torch and ONNX Runtime, and weights that are packed on disk are packed in the engine too.
Inputs and outputs have the names that transformers uses, so `model.onnx` runs with plain arrays:

    session.run(["logits"], {"input_ids": ids, "attention_mask": mask, "token_type_ids": types})
"""

import io
import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from niwaki.data.pixels import PIXELS
from niwaki.engines.exits import layer_ranges
from niwaki.engines.expand import DOMAIN, expand
from niwaki.engines.graph_rules import DECODER, ENCODER, EXIT_GRAPH, GRAPH, WEIGHTS
from niwaki.engines.tidy import tidy
from niwaki.engines.weight_links import link_weights
from niwaki.models.anatomy import Anatomy
from niwaki.models.decoding import DecoderLayer, KeyValue
from niwaki.models.family import Family, Network
from niwaki.models.forward import run_layer_range, run_padded
from niwaki.models.generation import decode_step, flatten_pairs
from niwaki.models.model import Model
from niwaki.models.pairs import reads_token_types
from niwaki.models.parts.decoders._decoder import Decoder
from niwaki.models.record import HIDDEN, Record
from niwaki.models.recorded import Recorded

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET = 17
Axes = dict[str, dict[int, str]]  # the axes of each input that may have any length
Function = Callable[[dict[str, Tensor]], Tensor | tuple[Tensor, ...]]  # of named tensors
EXAMPLE_IDS = torch.ones(2, 5, dtype=torch.long)


def write_graph(model: Model, folder: Path) -> None:
    """Adds the graphs to the folder of a saved model: `model.onnx` and one for each layer range if the model has exits, or an encoder
    and a decoder if it generates text."""
    if model.anatomy.is_seq2seq:
        write(trace_encoder(model), folder, ENCODER, model.anatomy.family)
        write(trace_decoder(model), folder, DECODER)
        return
    write(trace(model), folder, GRAPH, model.anatomy.family)
    exits = getattr(model.network.config, "niwaki_exits", None)
    for number, (first, last) in enumerate(layer_ranges(exits, len(model.anatomy.order)) if exits else ()):
        write(trace_layers(model, first, last, number == 0), folder, EXIT_GRAPH.format(number), model.anatomy.family)


def write(traced: bytes, folder: Path, name: str, family: type[Family] | None = None) -> None:
    """`family` says what the saved tensors are called."""
    graph = with_standard_operators(traced)
    tidy(graph.graph)
    link_weights(graph, folder / WEIGHTS, family=family)
    (folder / name).write_bytes(graph.SerializeToString())


def with_standard_operators(traced: bytes) -> "ModelProto":
    """The graph without niwaki's own operators, so that every engine can read it."""
    import onnx

    graph = onnx.load_from_string(traced)
    expand(graph.graph)
    for place in reversed([place for place, entry in enumerate(graph.opset_import) if entry.domain == DOMAIN]):
        del graph.opset_import[place]
    return graph


class Graph(nn.Module):
    """A function of named tensors as a module, so that it can be traced. Weights have their names in the network."""

    def __init__(self, network: Network, names: Iterable[str], function: Function) -> None:
        super().__init__()
        self.network, self.names, self.function = network, list(names), function

    def forward(self, *tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
        return self.function(dict(zip(self.names, tensors, strict=True)))


def trace(model: Model) -> bytes:
    """The forward pass as an ONNX graph."""
    anatomy, outputs = model.anatomy, list(model.anatomy.head.outputs)

    def with_tokens(inputs: dict[str, Tensor]) -> tuple[Tensor, ...]:
        record: Record = {HIDDEN: []}
        return run_padded(anatomy, inputs, record), Recorded(record[HIDDEN])[-1]

    return graph_of(anatomy, partial(run_padded, anatomy) if len(outputs) == 1 else with_tokens, outputs)


def trace_layers(model: Model, first: int, last: int, begins: bool) -> bytes:
    """The layers from one depth to another, and the head, as an ONNX graph."""
    anatomy = model.anatomy
    outputs = ["logits", "next_hidden_states"] if last < len(anatomy.order) else ["logits"]
    inputs = {"hidden_states": torch.zeros(*EXAMPLE_IDS.shape, anatomy.hidden_size), "attention_mask": EXAMPLE_IDS}
    function = partial(run_layer_range, anatomy, first=first, last=last)
    return graph_with(anatomy.network, function, example_inputs(anatomy) if begins else inputs, outputs)


def trace_encoder(model: Model) -> bytes:
    """From the input to the keys and values that the decoder reads."""
    decoder = decoder_of(model)
    depth = sum(not cross.mixer.removed for _, cross in decoder.layers)
    function = lambda inputs: tuple(flatten_pairs(decoder.encode(inputs)))  # noqa: E731
    return graph_of(model.anatomy, function, cache_names("encoder", depth))


def trace_decoder(model: Model) -> bytes:
    """One generated token: with the encoder's keys and values, and those of the tokens generated so far."""
    decoder = decoder_of(model)
    read = example_inputs(model.anatomy)
    memory = decoder.encode(read)
    past = example_past(decoder.layers, memory[0][0])
    encoder_names, decoder_names = cache_names("encoder", len(memory)), cache_names("decoder", len(past))
    cached = dict(zip([*encoder_names, *decoder_names], flatten_pairs([*memory, *past]), strict=True))
    inputs = {
        "input_ids": EXAMPLE_IDS[:, :2],
        "cache_position": torch.tensor([3]),
        "encoder_attention_mask": model.anatomy.inputs.mask(read),
        **cached,
    }
    axes = {"input_ids": {0: "batch", 1: "hypotheses"}, "encoder_attention_mask": {0: "batch", 1: "tokens"}}
    axes |= {name: {0: "batch", 2: "tokens"} for name in encoder_names}
    axes |= {name: {0: "generated", 2: "past"} for name in decoder_names}
    outputs = ["log_probs", *cache_names("decoder", len(past), "present")]
    return graph_with(model.network, lambda tensors: decode_step(decoder, *tensors.values()), inputs, outputs, axes)


def decoder_of(model: Model) -> Decoder:
    assert model.anatomy.decoder is not None
    return model.anatomy.decoder


def example_past(layers: Sequence[DecoderLayer], like: Tensor) -> list[KeyValue]:
    """Keys and values of three generated tokens, for two hypotheses of each text, in all self-attentions."""
    sizes = [(2 * len(like), own.heads, 3, own.head_size) for own, _ in layers if not own.mixer.removed]
    return [(like.new_zeros(size), like.new_zeros(size)) for size in sizes]


def cache_names(part: str, depth: int, prefix: str = "past_key_values") -> list[str]:
    """Names of cached keys and values, as in transformers' own exports."""
    return [f"{prefix}.{number}.{part}.{which}" for number in range(depth) for which in ("key", "value")]


def example_inputs(anatomy: Anatomy) -> dict[str, Tensor]:
    """The inputs of a network by name, with example values for tracing."""
    found = anatomy.inputs.example(*EXAMPLE_IDS.shape)
    return {name: value for name, value in found.items() if name != "token_type_ids" or reads_token_types(anatomy)}


def graph_of(anatomy: Anatomy, function: Function, outputs: list[str]) -> bytes:
    """An ONNX graph that reads the inputs of the network."""
    return graph_with(anatomy.network, function, example_inputs(anatomy), outputs)


def graph_with(
    network: Network, function: Function, inputs: dict[str, Tensor], outputs: list[str], axes: Axes | None = None
) -> bytes:
    """An ONNX graph for any batch and length. Constants are not folded, so that weights keep their names."""
    sized = {PIXELS: {0: "batch"}}
    axes = axes or {name: sized.get(name, {0: "batch", 1: "tokens"}) for name in inputs}
    file = io.BytesIO()
    # the older exporter: it keeps the names of weights and reads the symbolic form of packed products (docs/concepts.md)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(  # restores the training mode afterwards
            Graph(network, inputs, function).eval(),
            tuple(inputs.values()),
            file,  # type: ignore[arg-type]  # the older exporter takes open files too
            dynamo=False,
            opset_version=OPSET,
            do_constant_folding=False,
            input_names=list(inputs),
            output_names=outputs,
            dynamic_axes=axes,
        )
    return file.getvalue()
