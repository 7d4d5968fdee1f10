"""An edited model saved, loaded again and asked in its engine."""

from pathlib import Path

import numpy as np
import torch

import tiny
from niwaki.answers.label import Label
from niwaki.core.tensor_file import header
from niwaki.engines.export import GRAPH, write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.model import WEIGHTS, Model, load_folder

TEXTS = [text for text, _ in tiny.sentences(12, seed=5)]


def again(model: Model, folder: Path) -> Model:
    """What is loaded answers to the bit as what was saved."""
    model.save(folder)
    found = load_folder(folder)
    assert torch.equal(tiny.logits(found, tiny.batch(model)), tiny.logits(model, tiny.batch(model)))
    assert [edit.label() for edit in found.blueprint.edits] == [edit.label() for edit in model.blueprint.edits]
    return found


def numbers(folder: Path) -> int:
    return header(folder / WEIGHTS).numbers


def in_engine(model: Model, folder: Path) -> float:
    """The largest difference between ONNX Runtime and torch, in a folder that the model was saved in."""
    write_graph(model, folder)
    assert (folder / GRAPH).stat().st_size < 150_000  # weights lie beside it
    rows = Label().encode(TEXTS, model.tokenizer.backend_tokenizer, 60)
    onnx, torch_ = (Predictor(folder, engine, threads=1).logits(rows) for engine in ("onnx", "torch"))
    assert torch_.std() > 0.05
    return float(np.abs(onnx - torch_).max() / np.abs(torch_).max())
