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


def distance_to(before: torch.Tensor) -> Context:
    """A context whose loss is the squared distance to these logits of the batch of `tiny`: 0 where an edit changes nothing."""
    return Context(
        seed=0,
        teacher=None,
        teacher_model=None,
        calibration=lambda model, count: [tiny.batch(model)],
        loss=lambda model, batch: (model.network(**batch.inputs).logits - before).square().mean(),
        soft_loss=None,
        texts=list,
    )


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
