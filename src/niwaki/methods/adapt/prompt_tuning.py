"""Prompt tuning: trains vectors in front of every text; all weights are frozen.

The vectors begin as those of random tokens of the vocabulary. They take positions, so texts can be that much shorter, and heads that read the first
token read the first vector. Plain prompts need large models: for encoders of everyday size, 'prefix_tuning' and 'lora' learn more.

Paper: Lester, Al-Rfou, Constant 2021, The Power of Scale for Parameter-Efficient Prompt Tuning (arXiv 2104.08691).
Cost: every text is that many tokens longer, also in the finished model. The native engine does not run prompts.
"""

import torch

from niwaki.core.seeds import derive
from niwaki.core.settings import setting
from niwaki.methods.adapt._tuning import Tuning
from niwaki.models.edits.prompt import Prompt
from niwaki.models.model import Model


class PromptTuning(Tuning):
    tokens: int = setting(8, "vectors in front of each text", ge=1, le=1024)

    def add(self, model: Model, seed: int) -> None:
        edit, table = Prompt(tokens=self.tokens), model.anatomy.tokens
        if not next(iter(table.state_dict().values())).is_meta:
            generator = torch.Generator().manual_seed(derive(seed, "prompt"))
            with torch.no_grad():
                edit.with_vectors(table(torch.randint(table.num_embeddings, (self.tokens,), generator=generator)))
        model.apply_edit(edit)
