"""Removes the least important attention heads, layer by layer.

Paper: Michel, Levy, Neubig 2019, Are Sixteen Heads Really Better than One? (arXiv 1905.10650).
Cost: a few calibration batches forward and backward.
"""

from niwaki.core.settings import setting
from niwaki.methods._method import Context, Method, Requirements, Reshapes
from niwaki.models.edits.heads import Heads as HeadsEdit
from niwaki.models.importance import importance, most_important
from niwaki.models.model import Model


class Heads(Method, Reshapes):
    keep: float = setting(
        0.67, "fraction of the heads to keep in each layer, at least one", tune=(0.25, 0.5, 0.75), gt=0, le=1
    )
    batches: int = setting(16, "calibration batches to estimate importance", ge=1)

    requires = Requirements(reduces=("file", "memory", "flops", "time"))

    def dry_prepare(self, model: Model) -> Model:
        model.anatomy.require_layers("heads")
        model.apply_edit(HeadsEdit(keep=[self.count(layer.heads) for layer in model.anatomy.attentions]))
        return model

    def count(self, heads: int) -> int:
        return max(1, round(self.keep * heads))

    def prepare(self, model: Model, context: Context) -> Model:
        model.anatomy.require_layers("heads")
        worth = importance(model, context.calibration(model, self.batches), context.loss).heads
        model.apply_edit(HeadsEdit(keep=[most_important(value, self.count(len(value))) for value in worth]))
        return model
