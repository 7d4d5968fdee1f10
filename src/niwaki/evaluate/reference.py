"""A model as users run it today: transformers, eager, fp32, batches of 32 in the order the texts arrive."""

from collections.abc import Sequence
from pathlib import Path

import torch

from niwaki.answers._choose import kind_of
from niwaki.answers._kind import Input, Value
from niwaki.data.batching import in_order
from niwaki.models.forward import Batch, forward
from niwaki.models.model import config_of, load_folder
from niwaki.tasks._task import Features
from niwaki.train.feed import Feed

BATCH = 32
DESCRIPTION = "transformers, eager, fp32, batches of 32 in arrival order"
CPU = torch.device("cpu")


class Reference:
    """Text in, answer out, through transformers' own forward pass; each batch padded to its longest text."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self.model = load_folder(folder)
        self.model.network.eval().set_attn_implementation("eager")
        self.kind = kind_of(config_of(self.model.network), str(folder)).opened(folder, self.model.labels)
        self.max_tokens = min(max_tokens, self.model.anatomy.max_tokens)

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        parts = []
        rows = self.kind.encode(inputs, self.model.tokenizer.backend_tokenizer, self.max_tokens)
        feed = Feed(Features(rows, torch.zeros(0).numpy()), self.model, CPU)
        nothing, order = torch.zeros(0), torch.arange(len(rows.ids)).numpy()
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                sequences = order[start : start + BATCH]
                batch = Batch(feed.inputs(sequences), nothing, nothing)
                found = forward(self.model.network, self.model.anatomy, batch).logits
                parts.append((sequences, (found[batch.mask.bool()] if self.kind.per_token else found).numpy()))
        logits = in_order(parts, rows.ids.lengths, self.kind.per_token)
        return self.kind.values(logits, rows, inputs, self.model.labels)
