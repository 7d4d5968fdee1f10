"""Features to batches of tensors."""

from collections.abc import Sequence

import numpy as np
import torch

from niwaki.data.batching import pad
from niwaki.models.forward import Batch
from niwaki.models.model import Model
from niwaki.tasks._task import Features, Task


class Feed:
    """Rows of a task, encoded with one model's tokenizer, as batches for that model."""

    def __init__(self, features: Features, model: Model, device: torch.device) -> None:
        self.features = features
        self.device = device
        self.pad_id = int(model.network.config.pad_token_id or 0)
        self.uses_types = model.anatomy.uses_types

    @property
    def lengths(self) -> list[int]:
        return self.features.lengths

    def batch(self, rows: Sequence[int] | np.ndarray) -> Batch:
        ids, mask = pad([self.features.ids[row] for row in rows], self.pad_id)
        inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask.astype(np.int64))}
        if self.uses_types:
            inputs["token_type_ids"] = torch.from_numpy(pad([self.features.types[row] for row in rows])[0])
        targets = torch.from_numpy(self.features.targets[np.asarray(rows)])
        inputs = {name: value.to(self.device) for name, value in inputs.items()}
        return Batch(inputs, targets.to(self.device), torch.as_tensor(np.asarray(rows)))


def encode_for(model: Model, task: Task, part: str) -> Features:
    """The task's rows of a split, in the model's tokens, no longer than the model can read."""
    limited = task.model_copy(update={"max_tokens": min(task.max_tokens, model.anatomy.max_tokens)})
    return limited.features(task.splits()[part], model.tokenizer.backend_tokenizer)
