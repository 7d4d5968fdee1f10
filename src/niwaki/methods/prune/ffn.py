"""Removes the least important feed-forward neurons, layer by layer.

In networks without attention, these are neurons of the hidden layers and convolution filters; LSTM units stay.

Paper: Molchanov et al. 2019, Importance Estimation for Neural Network Pruning (arXiv 1906.10771).
Cost: a few calibration batches forward and backward.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.ffn import Ffn as FfnEdit
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model


class Ffn(Method, Reshapes):
    keep: float = setting(0.5, "fraction of the neurons to keep in each layer", tune=(0.25, 0.5, 0.75), gt=0, le=1)
    multiple: int = setting(64, "round the remaining number up to a multiple of this: odd sizes run slower", ge=1)
    batches: int = setting(16, "calibration batches to estimate importance", ge=1)

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
    """`keep` × `neurons`, rounded up to a `multiple`, from 1 to `neurons`."""
    return min(neurons, -(-max(1, round(keep * neurons)) // multiple) * multiple)
