"""The optimizer of a training: groups of parameters, and which of them are moved how."""

from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import nn

from niwaki.core.errors import NiwakiError
from niwaki.core.json_types import Json
from niwaki.models.anatomy import Anatomy
from niwaki.train.learning_rates import NO_SCALES, Scales, grouped_by_scales
from niwaki.train.muon import Muon
from niwaki.train.settings import TrainSettings


def make_optimizer(
    modules: nn.Module,
    settings: TrainSettings,
    scales: Mapping[nn.Parameter, Scales] = NO_SCALES,
    matrices: Iterable[nn.Parameter] = (),
    dtype: torch.dtype = torch.float32,
) -> torch.optim.Optimizer:
    """Parameters with the same scales of the learning rate share a group for matrices and one for the rest. With muon, `matrices` are
    orthogonalized in `dtype`."""
    trained = [parameter for parameter in modules.parameters() if parameter.requires_grad]
    if not trained:
        raise NiwakiError("nothing is left to train: every parameter is frozen or packed")
    if settings.optimizer == "adamw":
        return torch.optim.AdamW([*_groups(trained, settings, scales)], lr=settings.lr, fused=True)
    chosen = {id(matrix) for matrix in matrices}
    groups = [
        {**group, "orthogonal": orthogonal}
        for orthogonal in (True, False)
        for group in _groups([one for one in trained if (id(one) in chosen) == orthogonal], settings, scales)
        if group["params"]
    ]
    return Muon(groups, settings.lr, dtype)


def layer_matrices(anatomy: Anatomy) -> Iterator[nn.Parameter]:
    """Weights of the plain matrices of all layers: no tables, no heads, no matrix that is worked out from others."""
    for path in anatomy.matrices():
        weight = anatomy.network.get_submodule(path)._parameters.get("weight")
        if weight is not None and weight.ndim == 2:
            yield weight


def _groups(
    trained: list[nn.Parameter], settings: TrainSettings, scales: Mapping[nn.Parameter, Scales]
) -> Iterator[Json]:
    for scale, alike in grouped_by_scales(trained, scales).items():
        for decays, decay in ((True, settings.weight_decay), (False, 0.0)):
            params = [p for p in alike if (p.ndim > 1) == decays]
            yield {"params": params, "weight_decay": decay, "lr_scales": scale}
