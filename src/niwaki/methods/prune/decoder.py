"""Takes whole layers of a decoder out: all but those that are evenly spread, or but those that the loss misses most.

A deep encoder with a shallow decoder writes as well, and faster: the encoder runs once, the decoder for every token.

Paper: Kasai et al. 2021, Deep Encoder, Shallow Decoder (arXiv 2006.10369); layers chosen as 'layers' does (Sajjad et al. 2023).
Cost: `worth` runs the batches once for every layer and every layer that goes; `spread` costs nothing.
"""

from typing import ClassVar, Literal

from niwaki.core.errors import Refused
from niwaki.core.settings import setting
from niwaki.methods._choosing import loss_with, missed_most, spread
from niwaki.methods._method import Context, Method, Moment
from niwaki.models.edits.decoder import Decoder as DecoderEdit
from niwaki.models.model import Model


class Decoder(Method):
    keep: float = setting(0.5, "share of the decoder's layers that stay, at least one", gt=0, le=1)
    count: int | None = setting(None, "how many stay, instead of a share", ge=1)
    choose: Literal["worth", "spread"] = setting(
        "worth", "which stay: those that the task's loss misses most, or evenly spread with the last"
    )
    batches: int = setting(8, "calibration batches that tell what is missed", ge=1)

    saves: ClassVar[tuple[str, ...]] = ("file", "memory", "flops", "time")

    def rehearse(self, model: Model, moment: Moment) -> Model:
        if moment == "prepare":
            model.operate(DecoderEdit(keep=self._count(model)[1]))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        depth, count = self._count(model)
        chosen = spread(depth, count)
        if self.choose == "worth":
            batches = list(context.calibration(model, self.batches))
            chosen = missed_most(depth, count, lambda keep: loss_with(model, DecoderEdit(keep=keep), batches, context))
        model.operate(DecoderEdit(keep=chosen))
        return model

    def _count(self, model: Model) -> tuple[int, int]:
        """How many layers there are, and how many stay."""
        if not model.anatomy.writes:
            raise Refused("decoder: this model only reads, it has no decoder; 'layers' takes out layers of an encoder")
        depth = len(model.anatomy.stacks["decoder layer"])
        if self.count and self.count > depth:
            raise Refused(
                f"decoder: count is {self.count} and the decoder has {depth}; lower it, or leave 'decoder' out"
            )
        return depth, self.count or max(1, round(self.keep * depth))
