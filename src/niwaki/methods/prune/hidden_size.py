"""Cuts out the columns of the hidden state that matter least, everywhere it is read or written. Heads and neurons stay.

Paper: Xia, Zhong, Chen 2022, Structured Pruning Learns Compact and Accurate Models (arXiv 2204.00408), whose hidden dimensions these
are, here by importance (Molchanov et al. 2019, arXiv 1906.10771) and not by learnt masks.
Cost: a few calibration batches forward and backward. Norms then see fewer columns: train afterwards.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.methods.prune.ffn import round_up_share
from niwaki.models.edits.hidden_size import HiddenSize as HiddenSizeEdit
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model


class HiddenSize(Method, Reshapes):
    keep: float = setting(0.75, "share of the columns that stay", gt=0, le=1)
    multiple: int = setting(8, "what is kept is rounded up to a multiple of this: odd widths run slower", ge=1)
    batches: int = setting(16, "calibration batches that tell what is important", ge=1)

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
