"""Prefix tuning, as P-tuning v2: trains keys and values in every layer that all tokens attend to; all weights are frozen.

Texts keep their positions and may be as long as before, unless `peft_positions` is set. The keys and values are trained themselves, without a network that computes them.

Paper: Li, Liang 2021, Prefix-Tuning (arXiv 2101.00190); Liu et al. 2022, P-Tuning v2 (arXiv 2110.07602).
Cost: attention to that many more tokens, also in the finished model. The native engine does not run prefixes.
"""

from niwaki.core.settings import setting
from niwaki.methods.adapt._tuning import Tuning
from niwaki.models.edits.prefix import Prefix
from niwaki.models.model import Model


class PrefixTuning(Tuning):
    tokens: int = setting(16, "keys and values in each layer", ge=1, le=1024)

    peft_positions: bool = setting(
        False, "texts begin at the position behind the prefix, so that peft computes the same (run/peft_format.py)"
    )

    def add(self, model: Model, seed: int) -> None:
        model.apply_edit(Prefix(tokens=self.tokens, takes_positions=self.peft_positions, seed=seed))
