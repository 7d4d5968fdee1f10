"""Shared by the methods that remove whole layers, of an encoder or of a decoder."""

from typing import Literal

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods._layer_choice import evenly_spaced, greedy_by_loss, loss_after_edit
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edit import Edit
from niwaki.models.model import Model


class Depth(Method, Reshapes):
    keep: float = setting(0.5, "fraction of the layers to keep, at least one", tune=(0.25, 0.5, 0.75), gt=0, le=1)
    count: int | None = setting(None, "number of layers to keep, instead of a fraction", ge=1)
    choose: Literal["worth", "spread"] = setting(
        "worth", "which layers stay: those whose removal increases the loss most, or evenly spaced ones with the last"
    )
    batches: int = setting(8, "calibration batches to measure the loss", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def depth(self, model: Model) -> int:
        """Number of layers; raises InputError if there are none."""
        raise NotImplementedError

    def edit(self, keep: list[int] | int) -> Edit:
        """The edit that keeps these layers."""
        raise NotImplementedError

    def layers_differ(self, model: Model) -> bool:
        """Whether one layer can be more important than another."""
        return True

    def dry_prepare(self, model: Model) -> Model:
        model.apply_edit(self.edit(self._count(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        depth, count = self.depth(model), self._count(model)
        chosen = evenly_spaced(depth, count)
        if self.choose == "worth" and self.layers_differ(model):
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
