"""A model as users run it today: transformers, eager, fp32, batches of 32 in the order the texts arrive."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from niwaki.models.model import load_folder

BATCH = 32
DESCRIPTION = "transformers, eager, fp32, batches of 32 in arrival order"


class Reference:
    """Text in, logits out, through transformers' own tokenizer call and forward pass."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        model = load_folder(folder)
        self.tokenizer: Any = model.tokenizer
        if not model.anatomy.uses_types:  # a tokenizer may give them all the same
            names = self.tokenizer.model_input_names
            self.tokenizer.model_input_names = [name for name in names if name != "token_type_ids"]
        self.network: Any = model.network.eval()
        self.network.set_attn_implementation("eager")
        self.max_tokens = min(max_tokens, model.anatomy.max_tokens)

    def logits(self, texts: Sequence[Any]) -> np.ndarray:
        import torch

        parts = []
        with torch.inference_mode():
            for start in range(0, len(texts), BATCH):
                rows = texts[start : start + BATCH]
                columns = (
                    [list(column) for column in zip(*rows, strict=True)] if isinstance(rows[0], tuple) else [list(rows)]
                )
                inputs = self.tokenizer(
                    *columns, padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt"
                )
                parts.append(self.network(**inputs).logits.numpy())
        return np.concatenate(parts)
