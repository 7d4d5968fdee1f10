"""Takes whole layers out: all but those that are evenly spread, or but those that the loss misses most.

Paper: Sajjad et al. 2023, On the Effect of Dropping Layers of Pre-trained Transformer Models (arXiv 2004.03844); `worth` tries each
on calibration batches instead of a rule.
Cost: `worth` runs the batches once for every layer and every layer that goes; `spread` costs nothing.
"""

from typing import ClassVar, Literal

from niwaki.core.errors import Refused
from niwaki.core.settings import setting
from niwaki.methods._choosing import all_differ, loss_with, missed_most, spread
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.edits.layers import Layers as LayersEdit
from niwaki.models.model import Model


class Layers(Method):
    keep: float = setting(0.5, "share of the layers that stay, at least one", gt=0, le=1)
    count: int | None = setting(None, "how many stay, instead of a share", ge=1)
    choose: Literal["worth", "spread"] = setting(
        "worth", "which stay: those that the task's loss misses most, or evenly spread with the last"
    )
    batches: int = setting(8, "calibration batches that tell what is missed", ge=1)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory", "flops", "time")

    def rehearse(self, model: Model, moment: Moment) -> Model:
        if moment == "prepare":
            model.operate(LayersEdit(keep=self._count(model)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        depth, count = len(model.anatomy.order), self._count(model)
        chosen = spread(depth, count)
        if self.choose == "worth" and all_differ(model):
            batches = list(context.calibration(model, self.batches))
            chosen = missed_most(depth, count, lambda keep: loss_with(model, LayersEdit(keep=keep), batches, context))
        model.operate(LayersEdit(keep=chosen))
        return model

    def _count(self, model: Model) -> int:
        model.anatomy.require_layers("layers")
        depth = len(model.anatomy.order)
        if self.count and self.count > depth:
            raise Refused(f"layers: count is {self.count} and the model has {depth}; lower it, or leave 'layers' out")
        return self.count or max(1, round(self.keep * depth))
