"""Lottery tickets: the largest weights of a trained model, set back to what they were early on, and trained alone.

A round is a stage that starts from the trained model, or from the round before; several leave out more than one does. With
`random` the mask is drawn instead: the control that tells whether the ticket matters.

Paper: Frankle, Carbin 2019, The Lottery Ticket Hypothesis (arXiv 1803.03635); rewinding: Frankle et al. 2020 (arXiv 1912.05671);
BERT's tickets: Chen et al. 2020 (arXiv 2007.12223).
Cost: a training for each round, a step some 5 % dearer. Saves bytes on disk alone.
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
    sparsity: float = setting(
        0.5, "share of the weights of the encoder's matrices that are gone after the round", gt=0, lt=1
    )
    rewind: str = setting(
        "", "stage whose weights are set back; empty is the recipe's model, none leaves them as trained"
    )
    random: bool = setting(False, "draw as many weights of each matrix by chance")
    scope: Scope = setting("global", "global compares all weights; layer takes the same share of every matrix")

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
            self._set_back(model, context.stage_model(self.rewind))
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
        self._refuse_misfit(ours, theirs)

    def _set_back(self, model: Model, source: Model) -> None:
        """All weights, those of embeddings, norms and head too."""
        densify(source, "lottery")
        self._refuse_misfit(model, source)
        model.network.load_state_dict(source.network.state_dict())

    def _refuse_misfit(self, model: Model, source: Model) -> None:
        shapes, theirs = (
            {name: value.shape for name, value in one.network.state_dict().items()} for one in (model, source)
        )
        misfit = next((name for name in {**shapes, **theirs} if shapes.get(name) != theirs.get(name)), None)
        if misfit is not None:
            whose = f"stage '{self.rewind}'" if self.rewind else "the recipe's model"
            raise InputError(
                f"lottery: the weights of {whose} do not fit ('{misfit}' "
                "is of another shape); rewind to a stage of this shape, before anything is cut or packed"
            )

    def finish(self, model: Model) -> Model:
        return store_sparse(model)


def random_mask(places: Tensor, count: int, seed: int) -> Tensor:
    """True at `count` of the places that are True, by chance."""
    generator = torch.Generator().manual_seed(seed)
    luck = torch.rand(places.shape, generator=generator).masked_fill(~places, -1.0)
    return keep_largest([luck], 1 - count / luck.numel(), "layer")[0] & places
