"""Removes the least important dimensions of the hidden states, in every layer. Heads and neurons stay.

Paper: Xia, Zhong, Chen 2022, Structured Pruning Learns Compact and Accurate Models (arXiv 2204.00408), which prunes the same dimensions;
here by importance (Molchanov et al. 2019, arXiv 1906.10771) instead of learned masks.
Cost: a few calibration batches forward and backward. Layer norms then normalize fewer dimensions: train afterwards.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.prune.ffn import round_up_share
from niwaki.models.edits.hidden_size import HiddenSize as HiddenSizeEdit
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model


class HiddenSize(Method, Reshapes):
    keep: float = setting(0.75, "fraction of the dimensions to keep", tune=(0.25, 0.5, 0.75), gt=0, le=1)
    multiple: int = setting(8, "round the remaining number up to a multiple of this: odd sizes run slower", ge=1)
    batches: int = setting(16, "calibration batches to estimate importance", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("hidden_size")
        model.apply_edit(HiddenSizeEdit(keep=round_up_share(model.anatomy.hidden_size, self.keep, self.multiple)))
        return model

    def prepare(self, model: Model, context: Context) -> Model:
        model.anatomy.require_layers("hidden_size")
        worth = importance(model, context.calibration(model, self.batches), context.loss).width
        model.apply_edit(
            HiddenSizeEdit(keep=most_important(worth, round_up_share(len(worth), self.keep, self.multiple)))
        )
        return model
