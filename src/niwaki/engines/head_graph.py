"""Writes the ONNX graph of a head folder. Its weights are those of trunk and head, with paths relative to the model folder.

ONNX Runtime resolves these paths if the session option `session.model_external_initializers_file_folder_path` names the model
folder (`engines/onnx_session.py`).
"""

from pathlib import Path

from niwaki.core.head_folder import HEAD_WEIGHTS, HEADS, WEIGHTS
from niwaki.engines.export import trace, with_standard_operators
from niwaki.engines.graph_rules import GRAPH
from niwaki.engines.tidy import tidy
from niwaki.engines.weight_links import link_weights
from niwaki.models.model import Model


def write_head_graph(model: Model, trunk: Path, head: Path, name: str) -> None:
    """`head` is the folder to write to; it becomes `heads/<name>` of the trunk's folder afterwards."""
    graph = with_standard_operators(trace(model))
    tidy(graph.graph)
    link_weights(graph, head / HEAD_WEIGHTS, f"{HEADS}/{name}/{HEAD_WEIGHTS}")
    link_weights(graph, trunk / WEIGHTS)
    (head / GRAPH).write_bytes(graph.SerializeToString())
