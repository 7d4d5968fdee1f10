"""(IA)³: trains factors for keys, values and the inner activations of the feed-forward blocks; all matrices are frozen.

The factors begin with 1. When the stage ends they are merged into the weights, or kept.

Paper: Liu et al. 2022, Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context Learning (arXiv 2205.05638).
Cost: one multiplication for each chosen matrix while training, and afterwards if the factors are kept.
"""

from niwaki.core.errors import InputError
from niwaki.core.settings import setting
from niwaki.methods.adapt._tuning import MergeableTuning
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.model import Model


class Ia3(MergeableTuning):
    outputs: list[str] = setting(["key", "value"], "roles of the matrices whose outputs are multiplied")
    inputs: list[str] = setting(["ffn_out"], "roles of the matrices whose inputs are multiplied")

    def add(self, model: Model, seed: int) -> None:
        if not (self.outputs or self.inputs):
            raise InputError("ia3: outputs and inputs are empty; name a matrix")
        for scales, targets in (("outputs", self.outputs), ("inputs", self.inputs)):
            if targets:
                model.apply_edit(AddDelta(kind="ia3", targets=targets, settings={"scales": scales}, seed=seed))
