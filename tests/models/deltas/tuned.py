"""Models with trained deltas, for tests."""

import torch

import tiny
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.model import Model
from niwaki.models.trunk import is_of_delta

ALL = ["query", "key", "value", "out", "ffn_in", "ffn_out"]


def with_delta(kind: str, targets: list[str] = ALL, start: Model | None = None, **settings: object) -> Model:
    """A model whose delta is as after training: no number is 0."""
    model = tiny.model("bert") if start is None else start
    model.apply_edit(AddDelta(kind=kind, targets=targets, settings=settings))
    return drawn(model)


@torch.no_grad()
def drawn(model: Model) -> Model:
    generator = torch.Generator().manual_seed(5)
    for name, parameter in model.network.named_parameters():
        if is_of_delta(name):
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    return model
