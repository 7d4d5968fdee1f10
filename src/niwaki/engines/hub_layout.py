"""Rearranges a model folder into the layout that other tools read, from the disk or from the Hub.

    config.json  tokenizer.json  tokenizer_config.json     transformers, Optimum, sentence-transformers, transformers.js, TEI
    onnx/model.onnx                                        the graph with its weights inside: Optimum, sentence-transformers, TEI, ...
    onnx/model_quantized.onnx                              the same file of an int8 or low-bit model, under transformers.js' name
    model.safetensors  niwaki.onnx  [blueprint.json ...]   niwaki; transformers, if the network is not edited

In a plain model folder `model.onnx` refers to model.safetensors, so weights are stored once. Tools that download single files do not
follow that reference, and prefer a file of that name to the one in `onnx/`. Here niwaki's graph therefore has another name.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.engines.graph_rules import EXTERNAL, GRAPH, HUB_GRAPH, WEIGHTS, check_graph
from niwaki.models.config_rules import CONFIG
from niwaki.models.skeleton import head_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto

QUESTION_ANSWERING = "QuestionAnswering"
HUB, SUBFOLDER, QUANTIZED = "hub", "onnx", "model_quantized.onnx"
MAX_GRAPH_BYTES = (1 << 31) - 1  # of a protobuf message


def write_hub_layout(folder: Path) -> None:
    """Changes the folder of a saved model in place."""
    if not (folder / GRAPH).is_file():
        raise InputError(
            f"{folder}: generates text with an encoder and a decoder graph, and other tools expect other graphs; "
            "use --to onnx and load the folder with niwaki"
        )
    graph = graph_with_weights(folder)
    if head_of(read_json(folder / CONFIG)) == QUESTION_ANSWERING:
        split_span_logits(graph.graph)
    data = graph.SerializeToString()
    (folder / SUBFOLDER).mkdir()
    (folder / SUBFOLDER / GRAPH).write_bytes(data)
    if is_quantized(graph):
        (folder / SUBFOLDER / QUANTIZED).write_bytes(data)
    (folder / GRAPH).rename(folder / HUB_GRAPH)


def graph_with_weights(folder: Path) -> "ModelProto":
    """The graph of a model folder with the tensors that it refers to."""
    import onnx

    weights = folder / WEIGHTS
    if weights.stat().st_size > MAX_GRAPH_BYTES:
        raise InputError(f"{weights}: has more than 2 GB, which an ONNX file cannot hold; compress the model first")
    graph = onnx.load_from_string(check_graph(folder, GRAPH, WEIGHTS))
    with weights.open("rb") as file:
        for tensor in graph.graph.initializer:
            if tensor.data_location != EXTERNAL:
                continue
            place = {entry.key: entry.value for entry in tensor.external_data}
            file.seek(int(place["offset"]))
            tensor.raw_data = file.read(int(place["length"]))
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return graph


def split_span_logits(graph: "GraphProto") -> None:
    """Replaces `logits` (batch, tokens, 2) by `start_logits` and `end_logits` (batch, tokens), which other tools expect of question
    answering."""
    from onnx import TensorProto, helper

    names = ("start_logits", "end_logits")
    last, parts = "last_axis", [f"{name}_column" for name in names]
    graph.initializer.append(helper.make_tensor(last, TensorProto.INT64, [1], [-1]))
    graph.node.append(helper.make_node("Split", ["logits"], parts, axis=-1))
    graph.node.extend(
        helper.make_node("Squeeze", [part, last], [name]) for part, name in zip(parts, names, strict=True)
    )
    del graph.output[:]
    axes = ["batch", "tokens"]
    graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, axes) for name in names)


def is_quantized(graph: "ModelProto") -> bool:
    """Whether any weight is stored as integers of 8 bits, which also hold codes of fewer bits."""
    from onnx import TensorProto

    return any(tensor.data_type in (TensorProto.INT8, TensorProto.UINT8) for tensor in graph.graph.initializer)
