"""LoRA: trains a product of two thin matrices next to each chosen matrix, which is frozen.

The matrices are chosen by role, in all layers of encoder and decoder. On packed weights, of 8 bits or fewer, this is QLoRA: they stay packed
and gradients pass through them. When the stage ends the product is merged into the weights, which then cost nothing more, or is kept.

Paper: Hu et al. 2021, LoRA: Low-Rank Adaptation of Large Language Models (arXiv 2106.09685); Dettmers et al. 2023, QLoRA (arXiv 2305.14314).
Cost: two thin products for each matrix while training, and afterwards if they are kept.
"""

from niwaki.core.settings import setting
from niwaki.methods.adapt._tuning import MergeableTuning
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.model import Model


class Lora(MergeableTuning):
    rank: int = setting(8, "size between the two thin matrices", ge=1, le=4096)
    alpha: float = setting(16.0, "strength: the product is multiplied by alpha / rank", gt=0)
    dropout: float = setting(0.0, "share of the inputs of the product that are dropped while training", ge=0, lt=1)
    targets: list[str] = setting(
        ["query", "value"], "roles of the matrices: query, key, value, out, ffn_in, ffn_out", min_length=1
    )

    def add(self, model: Model, seed: int) -> None:
        settings = {"rank": self.rank, "alpha": self.alpha, "dropout": self.dropout}
        model.apply_edit(AddDelta(kind="lora", targets=self.targets, settings=settings, seed=seed))
