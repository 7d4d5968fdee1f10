"""Lottery tickets: the largest weights of a trained model, set back to what they were early on, and trained alone.

A round is a stage that starts from the trained model, or from the round before; several leave out more than one does. With
`random` the mask is drawn instead: the control that tells whether the ticket matters.

Paper: Frankle, Carbin 2019, The Lottery Ticket Hypothesis (arXiv 1803.03635); rewinding: Frankle et al. 2020 (arXiv 1912.05671);
BERT's tickets: Chen et al. 2020 (arXiv 2007.12223).
Cost: a training for each round, a step some 5 % dearer. Saves bytes on disk alone.
"""

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor

from niwaki.core.errors import Refused
from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Moment
from niwaki.methods.prune._masks import Mask, Scope, largest, opened, refuse_packed, rehearse_trained, store
from niwaki.models.lenses import put
from niwaki.models.model import Model

NONE = "none"


class Lottery(Method):
    sparsity: float = setting(0.5, "share of the weights of the encoder's matrices that are gone after the round", gt=0, lt=1)  # fmt: skip
    rewind: str = setting("", "stage whose weights are set back; empty is the recipe's model, none leaves them as trained")  # fmt: skip
    random: bool = setting(False, "draw as many weights of each matrix by chance")
    scope: Scope = setting("global", "global compares all weights; layer takes the same share of every matrix")

    needs_training: ClassVar[bool] = True
    holds: ClassVar[bool] = True
    saves: ClassVar[tuple[str, ...]] = ("file",)

    @property
    def stages(self) -> tuple[str, ...]:
        return () if self.rewind == NONE else (self.rewind,)

    def rehearse(self, model: Model, moment: Moment) -> Model:
        return rehearse_trained(model, "lottery", moment)

    def prepare(self, model: Model, context: Context) -> Model:
        refuse_packed(model, "lottery")
        found = opened(model, "lottery")
        sizes = [module.weight.detach().abs() for module in found.values()]
        masks = [mask & (size > 0) for mask, size in zip(largest(sizes, self.sparsity, self.scope), sizes, strict=True)]
        if self.rewind != NONE:
            self._set_back(model, context.made(self.rewind))
        for number, (module, mask) in enumerate(zip(found.values(), masks, strict=True)):
            if self.random:
                mask = drawn(module.weight != 0, int(mask.sum()), derive(context.seed, "lottery", number))
            put(module, Mask(module.weight, mask))
        return model

    def fits(self, model: Model, teacher: Model | None, made: Callable[[str], Model]) -> None:
        if self.rewind == NONE:
            return
        ours, theirs = model.clone(), made(self.rewind).clone()
        for one in (ours, theirs):
            opened(one, "lottery")
        self._refuse_misfit(ours, theirs)

    def _set_back(self, model: Model, source: Model) -> None:
        """All weights, those of embeddings, norms and head too."""
        opened(source, "lottery")
        self._refuse_misfit(model, source)
        model.network.load_state_dict(source.network.state_dict())

    def _refuse_misfit(self, model: Model, source: Model) -> None:
        shapes, theirs = ({name: value.shape for name, value in one.network.state_dict().items()} for one in (model, source))  # fmt: skip
        misfit = next((name for name in {**shapes, **theirs} if shapes.get(name) != theirs.get(name)), None)
        if misfit is not None:
            whose = f"stage '{self.rewind}'" if self.rewind else "the recipe's model"
            raise Refused(
                f"lottery: the weights of {whose} do not fit ('{misfit}' "
                "is of another shape); rewind to a stage of this shape, before anything is cut or packed"
            )

    def finish(self, model: Model) -> Model:
        return store(model)


def drawn(places: Tensor, count: int, seed: int) -> Tensor:
    """True at `count` of the places that are True, by chance."""
    generator = torch.Generator().manual_seed(seed)
    luck = torch.rand(places.shape, generator=generator).masked_fill(~places, -1.0)
    return largest([luck], 1 - count / luck.numel(), "layer")[0] & places
