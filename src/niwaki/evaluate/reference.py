"""The reference: a model as users run it today, with transformers, eager, fp32, in batches of 32 in arrival order."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from niwaki.answers._answer_type import Input, Value
from niwaki.answers._capabilities import GeneratesTokens, ReducesLogits, load_answer_files
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.embedding import Embedding
from niwaki.data.batching import in_order
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.family import family_of
from niwaki.models.features import Features
from niwaki.models.forward import Batch, forward
from niwaki.models.generation import generate
from niwaki.models.input_readers import encoder_of
from niwaki.models.model import load_folder
from niwaki.models.saved_files import config_of
from niwaki.train.collator import Collator

BATCH = 32
CPU, NOTHING = torch.device("cpu"), torch.zeros(0)


class Reference:
    """Predicts through transformers' own forward pass, or token by token in torch if the network generates text. Each batch is padded
    to its longest text."""

    def __init__(self, folder: Path, max_tokens: int) -> None:
        self.model = load_folder(folder)
        self.model.network.eval().set_attn_implementation("eager")
        kind = answer_type_of(config_of(self.model.network), str(folder))
        self.answer_type = load_answer_files(kind, folder, self.model.labels)
        self.max_tokens = min(max_tokens, self.model.anatomy.max_tokens)

    @property
    def is_in_transformers(self) -> bool:
        """Whether transformers' forward pass computes the model: it knows neither parts that replace a family's own nor how to pool."""
        replaced = any(isinstance(edit, ReplacePart) for edit in self.model.blueprint.edits)
        pools = isinstance(self.answer_type, Embedding)
        return family_of(self.model.network.config.model_type).in_transformers and not replaced and not pools

    @property
    def description(self) -> str:
        where = "transformers" if self.is_in_transformers and not self.model.anatomy.is_seq2seq else "torch"
        return f"{where}, eager, fp32, batches of {BATCH} in arrival order"

    def values(self, inputs: Sequence[Input]) -> list[Value]:
        parts = []
        rows = self.answer_type.encode(inputs, encoder_of(self.model.tokenizer), self.max_tokens)
        collator = Collator(Features(rows, torch.zeros(0).numpy()), self.model, CPU)
        order = np.arange(len(rows.lengths))
        reduce = self.answer_type.reduce if isinstance(self.answer_type, ReducesLogits) else None
        with torch.inference_mode():
            for start in range(0, len(order), BATCH):
                sequences = order[start : start + BATCH]
                logits = self._logits(collator.inputs(sequences))
                parts.append((sequences, logits if reduce is None else reduce(logits, rows, sequences)))
        logits = in_order(parts, rows.lengths, self.answer_type.per_token and reduce is None)
        return self.answer_type.values(logits, rows, inputs, self.model.labels)

    def _logits(self, given: dict[str, torch.Tensor]) -> np.ndarray:
        anatomy, mask = self.model.anatomy, given["attention_mask"]
        if isinstance(self.answer_type, GeneratesTokens):
            return generate(anatomy, given, self.answer_type.search)
        if not self.is_in_transformers:
            found = forward(anatomy, Batch(given, NOTHING, NOTHING)).logits
        else:
            outputs = self.model.network(**given)
            spans = "start_logits" in outputs  # transformers gives the two logits of a span apart
            found = torch.stack([outputs.start_logits, outputs.end_logits], -1) if spans else outputs.logits
            if self.answer_type.per_token and found.ndim == 2:  # and the only one of a token without an axis for it
                found = found[..., None]
        return (found[mask.bool()] if self.answer_type.per_token else found).numpy()
