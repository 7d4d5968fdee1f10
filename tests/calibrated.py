"""A context with calibration batches, for tests of methods."""

import torch

import tiny
from niwaki.methods._method import Context

TEXTS = [text for text, _ in tiny.sentences(8)]
CONTEXT = Context(
    seed=0,
    teacher=None,
    teacher_model=None,
    calibration=lambda model, count: [tiny.batch(model, seed=seed) for seed in range(min(count, 3))],
    loss=lambda model, batch: torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets),
    soft_loss=None,
    texts=lambda: TEXTS,
)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
