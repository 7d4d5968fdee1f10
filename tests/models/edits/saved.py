"""Saves an edited model, loads it again and runs it in its engines."""

from pathlib import Path

import numpy as np
import torch

import tiny
from niwaki.answers.label import Label
from niwaki.core.tensor_file import read_header
from niwaki.engines.export import GRAPH, write_graph
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.models.model import Model, load_folder
from niwaki.models.stock import WEIGHTS

TEXTS = [text for text, _ in tiny.sentences(12, seed=5)]


def again(model: Model, folder: Path) -> Model:
    """The loaded model, whose outputs equal those of the saved one."""
    model.save(folder)
    found = load_folder(folder)
    assert torch.equal(tiny.logits(found, tiny.batch(model)), tiny.logits(model, tiny.batch(model)))
    assert [edit.label() for edit in found.blueprint.edits] == [edit.label() for edit in model.blueprint.edits]
    return found


def numbers(folder: Path) -> int:
    return read_header(folder / WEIGHTS).numel


def in_engine(model: Model, folder: Path) -> float:
    """The largest difference between torch and the other engines, relative to the largest logit."""
    write_graph(model, folder)
    assert (folder / GRAPH).stat().st_size < 150_000  # without weights
    assert write_program(model, folder) is None or not model.anatomy.layers
    rows = Label().encode(TEXTS, model.tokenizer.backend_tokenizer, 60)
    engines = ("onnx", "openvino", *(("native",) if model.anatomy.layers and best() else ()))
    wanted = Predictor(folder, "torch", threads=1).logits(rows)
    assert wanted.std() > 0.05
    found = [np.abs(Predictor(folder, engine, threads=1).logits(rows) - wanted).max() for engine in engines]
    return float(max(found) / np.abs(wanted).max())
