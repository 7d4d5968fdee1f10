"""Lottery tickets: keeps the largest weights of a trained model, resets them to earlier values, and trains them alone.

A round is a stage that starts from the trained model or from the round before; several rounds reach higher sparsity than one. With
`random` the mask is random instead: the control experiment.

Paper: Frankle, Carbin 2019, The Lottery Ticket Hypothesis (arXiv 1803.03635); rewinding: Frankle et al. 2020 (arXiv 1912.05671);
BERT's tickets: Chen et al. 2020 (arXiv 2007.12223).
Cost: one training per round; a step costs about 5 % more. Saves bytes on disk only.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Bakes, Context, Method, ReadsStages, Requirements, Reshapes
from niwaki.methods.prune._masks import Mask, Scope, densify, keep_largest, reject_packed, store_sparse
from niwaki.models.model import Model
from niwaki.models.parametrizations import add_parametrization

NONE = "none"


class Lottery(Method, Reshapes, ReadsStages, Bakes):
    sparsity: float = setting(0.5, "fraction of the matrices' weights that are 0 after the round", gt=0, lt=1)
    rewind: str = setting(
        "", "stage to which weights are reset; empty: the recipe's model; none: weights stay as trained"
    )
    random: bool = setting(False, "use a random mask of the same sparsity for each matrix")
    scope: Scope = setting("global", "global compares all weights; layer prunes the same fraction of every matrix")

    requires = Requirements(training=True, pins_modules=True, reduces=("file",))

    @property
    def stages(self) -> tuple[str, ...]:
        return () if self.rewind == NONE else (self.rewind,)

    def dry_prepare(self, model: Model) -> Model:
        reject_packed(model, "lottery")
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        reject_packed(model, "lottery")
        found = densify(model, "lottery")
        sizes = [module.weight.detach().abs() for module in found.values()]
        masks = [
            mask & (size > 0) for mask, size in zip(keep_largest(sizes, self.sparsity, self.scope), sizes, strict=True)
        ]
        if self.rewind != NONE:
            self._rewind(model, context.stage_model(self.rewind))
        for number, (module, mask) in enumerate(zip(found.values(), masks, strict=True)):
            if self.random:
                mask = random_mask(module.weight != 0, int(mask.sum()), derive(context.seed, "lottery", number))
            add_parametrization(module, Mask(module.weight, mask))
        return model

    def check_stages(self, model: Model, stage_model: Callable[[str], Model]) -> None:
        if self.rewind == NONE:
            return
        ours, theirs = model.clone(), stage_model(self.rewind).clone()
        for one in (ours, theirs):
            densify(one, "lottery")
        self._reject_other_shapes(ours, theirs)

    def _rewind(self, model: Model, source: Model) -> None:
        """Reset all weights, including embeddings, norms and head."""
        densify(source, "lottery")
        self._reject_other_shapes(model, source)
        model.network.load_state_dict(source.network.state_dict())

    def _reject_other_shapes(self, model: Model, source: Model) -> None:
        shapes, theirs = (
            {name: value.shape for name, value in one.network.state_dict().items()} for one in (model, source)
        )
        other = next((name for name in {**shapes, **theirs} if shapes.get(name) != theirs.get(name)), None)
        if other is not None:
            whose = f"stage '{self.rewind}'" if self.rewind else "the recipe's model"
            raise InputError(
                f"lottery: the weights of {whose} do not fit ('{other}' "
                "has another shape); rewind to a stage of the same shape, before pruning or packing"
            )

    def finish(self, model: Model) -> Model:
        return store_sparse(model)


def random_mask(places: Tensor, count: int, seed: int) -> Tensor:
    """A random choice of `count` of the True entries of `places`."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.rand(places.shape, generator=generator).masked_fill(~places, -1.0)
    return keep_largest([scores], 1 - count / scores.numel(), "layer")[0] & places
