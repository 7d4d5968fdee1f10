"""Checks of models with other parts: what is saved loads to the same numbers, and the exported graph gives them for all lengths."""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

import tiny
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.models.forward import Batch, forward, run_padded
from niwaki.models.model import Model, load_folder
from niwaki.models.pairs import reads_token_types

LENGTHS = (1, 4, 17, 43)


@torch.no_grad()
def outputs(model: Model, batch: Batch) -> Tensor:
    model.network.eval()
    return forward(model.anatomy, batch).logits


def text_batch(model: Model, tokens: int, seed: int = 0) -> Batch:
    """Two texts of random tokens, one of them half as long."""
    generator = torch.Generator().manual_seed(seed + tokens)
    ids = torch.randint(5, 60, (2, tokens), generator=generator)
    mask = torch.ones_like(ids)
    mask[1, (tokens + 1) // 2 :] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    inputs |= {"token_type_ids": torch.zeros_like(ids)} if reads_token_types(model.anatomy) else {}
    return replace(tiny.batch(model), inputs=inputs)


def check_saved_and_exported(model: Model, folder: Path, atol: float = 1e-4) -> None:
    tiny.with_graphs(model, folder)
    engine, loaded = Onnx(folder, 1), load_folder(folder)
    for tokens in LENGTHS:
        batch = text_batch(model, tokens)
        wanted = outputs(model, batch)
        assert torch.equal(outputs(loaded, batch), wanted)
        with torch.no_grad():
            torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), wanted, atol=1e-5, rtol=0)
        arrays = {name: value.numpy() for name, value in batch.inputs.items()}
        torch.testing.assert_close(torch.from_numpy(engine.logits(arrays)), wanted, atol=atol, rtol=0)
