"""Cuts out the feed-forward neurons that matter least, layer by layer.

Of networks without attention layers: neurons of the hidden layers, and filters; units of an LSTM stay.

Paper: Molchanov et al. 2019, Importance Estimation for Neural Network Pruning (arXiv 1906.10771).
Cost: a few calibration batches forward and backward.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.ffn import Ffn as FfnEdit
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model


class Ffn(Method, Reshapes):
    keep: float = setting(0.5, "share of the neurons that stay in each layer", gt=0, le=1)
    multiple: int = setting(64, "what is kept is rounded up to a multiple of this: odd widths run slower", ge=1)
    batches: int = setting(16, "calibration batches that tell what is important", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        widths = [round_up_share(block.ffn_size, self.keep, self.multiple) for block in model.anatomy.blocks]
        model.apply_edit(FfnEdit(keep=[*widths]))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        worth = importance(model, context.calibration(model, self.batches), context.loss).neurons
        model.apply_edit(
            FfnEdit(
                keep=[most_important(value, round_up_share(len(value), self.keep, self.multiple)) for value in worth]
            )
        )
        return model


def round_up_share(neurons: int, keep: float, multiple: int) -> int:
    """`keep` of `neurons`, rounded up to `multiple`, at least one and never more than there are."""
    return min(neurons, -(-max(1, round(keep * neurons)) // multiple) * multiple)
