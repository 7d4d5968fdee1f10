"""Sessions of ONNX Runtime: on the CPU, one thread per call, without telemetry."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.core.errors import InputError, first_line
from niwaki.core.head_folder import is_head_folder, trunk_folder, weight_files
from niwaki.engines.graph_rules import check_graph

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"  # from 1.29 on, official builds otherwise report the models they load


def open_session(folder: Path, graph: str) -> "InferenceSession":
    """A session for a checked graph and the weights next to it."""
    root = trunk_folder(folder)
    place = folder.resolve().relative_to(root) / graph if is_head_folder(folder) else Path(graph)
    checked = check_graph(root, str(place), *(str(path.relative_to(root)) for path in weight_files(folder)))
    try:
        return session_of(checked, str(root)) if is_head_folder(folder) else session_of(str(folder / graph))
    except Exception as error:  # noqa: BLE001 - onnxruntime's exceptions share no base class of their own
        raise InputError(f"{folder / graph}: cannot be loaded by ONNX Runtime ({first_line(error)})") from None


def session_of(graph: str | bytes, weights_folder: str = "") -> "InferenceSession":
    """A session for a graph of niwaki's own, given as a path or as bytes. Paths of weights are relative to `weights_folder`."""
    os.environ.setdefault(NO_TELEMETRY, "1")  # read when onnxruntime is imported
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if weights_folder:
        options.add_session_config_entry(WEIGHTS_FOLDER, weights_folder)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def input_names(session: "InferenceSession") -> tuple[str, ...]:
    return tuple(entry.name for entry in session.get_inputs())
