"""What the methods share that take whole layers out, of an encoder or of a decoder."""

from typing import Literal

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._layer_choice import evenly_spaced, greedy_by_loss, loss_after_edit
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edit import Edit
from niwaki.models.model import Model


class Depth(Method, Reshapes):
    keep: float = setting(0.5, "share of the layers that stay, at least one", gt=0, le=1)
    count: int | None = setting(None, "how many stay, instead of a share", ge=1)
    choose: Literal["worth", "spread"] = setting(
        "worth", "which stay: those that the task's loss misses most, or evenly spread with the last"
    )
    batches: int = setting(8, "calibration batches that tell what is missed", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def depth(self, model: Model) -> int:
        """How many layers there are; Refused where there are none."""
        raise NotImplementedError

    def edit(self, keep: list[int] | int) -> Edit:
        """What leaves these."""
        raise NotImplementedError

    def differ(self, model: Model) -> bool:
        """Whether one layer can be worth more than another."""
        return True

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(self.edit(self._count(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        depth, count = self.depth(model), self._count(model)
        chosen = evenly_spaced(depth, count)
        if self.choose == "worth" and self.differ(model):
            batches = list(context.calibration(model, self.batches))
            chosen = greedy_by_loss(
                depth, count, lambda keep: loss_after_edit(model, self.edit(keep), batches, context)
            )
        model.apply_edit(self.edit(chosen))
        return model

    def _count(self, model: Model) -> int:
        depth, name = self.depth(model), self.label()
        if self.count and self.count > depth:
            raise InputError(f"{name}: count is {self.count} and there are {depth}; lower it, or leave '{name}' out")
        return self.count or max(1, round(self.keep * depth))
