"""One sequence through one network: its states, attention and logits, also for points between two inputs."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from niwaki.models.anatomy import Anatomy
from niwaki.models.family import final_norm
from niwaki.models.forward import embedded, encode_packed, from_embedded, head_logits, run, run_layers
from niwaki.models.layer import normed, reduction_of
from niwaki.models.layout import Layout, Packed
from niwaki.models.model import Model
from niwaki.models.pairs import reads_token_types, split_pairs
from niwaki.models.position_bias import set_position_bias
from niwaki.models.record import ATTENTION, HIDDEN, Record
from niwaki.models.recorded import Recorded

PREFERRED = ("mask_token_id", "unk_token_id", "pad_token_id")  # what stands for a missing token
NO_LAYERS = "the network has no layers of attention"
TEXT_TO_TEXT = "the model generates text with a decoder"


@dataclass(frozen=True)
class OneInput:
    """`ids` and `types` (tokens,) of one sequence. Reasons are texts: why something cannot be shown, or "" where it can."""

    model: Model
    ids: np.ndarray
    types: np.ndarray
    special: np.ndarray = field(repr=False)  # (tokens,) which tokens no word has

    @property
    def anatomy(self) -> Anatomy:
        return self.model.anatomy

    @cached_property
    def inputs(self) -> dict[str, Tensor]:
        return self._inputs(self.ids)

    @cached_property
    def baseline_inputs(self) -> dict[str, Tensor]:
        """The same with the baseline token in place of every token of a word."""
        return self._inputs(np.where(self.special, self.ids, self.baseline_token))

    @property
    def baseline_token(self) -> int:
        known = (getattr(self.model.tokenizer, name, None) for name in PREFERRED)
        return next((int(found) for found in known if found is not None), 0)

    def _inputs(self, ids: np.ndarray) -> dict[str, Tensor]:
        arrays = {"input_ids": ids, "token_type_ids": self.types, "attention_mask": np.ones_like(ids)}
        if not reads_token_types(self.anatomy):
            del arrays["token_type_ids"]
        return {name: torch.from_numpy(array.astype(np.int64))[None] for name, array in arrays.items()}

    @torch.no_grad()
    def logits(self) -> Tensor:
        """(labels,), or (tokens, labels) from heads per token."""
        return run(self.anatomy, self.inputs, {})[0]

    @property
    def no_attention(self) -> str:
        if not self.anatomy.layers:
            return NO_LAYERS
        for number, layer in enumerate(self.anatomy.layers):
            if reduction := reduction_of(layer):
                return f"layer {number} shortens texts ('{reduction.label()}'), so that later tokens stand for several"
            if ATTENTION not in layer.mixer.records:
                return f"layer {number} mixes tokens with '{layer.mixer.label()}', which has no attention weights"
        return ""

    @torch.no_grad()
    def attention(self) -> list[Tensor]:
        """For each layer run (heads, tokens, tokens), of the encoder. Two texts that are encoded separately do not attend to each other."""
        record: Record = {ATTENTION: []}
        if self.anatomy.is_seq2seq:
            encode_packed(self.anatomy, self.inputs, record, lambda rows: rows)
        else:
            run(self.anatomy, self.inputs, record)
        found = Recorded(record[ATTENTION])
        if any(weights.shape[-1] < max(self._counts) for weights in found):
            return []  # layers that attend to groups of tokens
        return [self._joined(weights) for weights in found]

    def _joined(self, weights: Tensor) -> Tensor:
        """(texts, heads, tokens, tokens) to (heads, tokens of all, tokens of all)."""
        counts = self._counts
        parts = [part[:, :count, :count] for part, count in zip(weights, counts, strict=False)]
        total, place = sum(counts), 0
        found = weights.new_zeros(weights.shape[1], total, total)
        for part, count in zip(parts, counts, strict=True):
            found[:, place : place + count, place : place + count] = part
            place += count
        return found

    @property
    def _counts(self) -> list[int]:
        """Tokens of each text that is encoded by itself; of a single text that a head reads twice, once."""
        if self.anatomy.is_seq2seq or not self.anatomy.layers or not self.anatomy.head.splits_pairs:
            return [len(self.ids)]
        second = int(self.types.sum())
        return [len(self.ids) - second, second] if second else [len(self.ids)]

    @property
    def no_layer_logits(self) -> str:
        if self.anatomy.is_seq2seq:
            return TEXT_TO_TEXT
        if not self.anatomy.layers:
            return NO_LAYERS
        if self.anatomy.head.mixes:
            return "the head reads a weighted sum of all layers, not one of them"
        reduction = next((number for number, layer in enumerate(self.anatomy.layers) if reduction_of(layer)), None)
        return "" if reduction is None else f"layer {reduction} shortens texts, so that layers differ in their tokens"

    @torch.no_grad()
    def layer_logits(self) -> list[Tensor]:
        """What the head makes of the output of the embeddings and of each layer, as it were the last: (labels,) or (tokens, labels)."""
        anatomy = self.anatomy
        hidden, mask, types = embedded(anatomy, self.inputs)
        layout: Layout = Packed(mask, anatomy.is_causal)
        layout.types = types
        set_position_bias(anatomy, hidden, layout)
        record: Record = {HIDDEN: [hidden]}
        run_layers([anatomy.layers[number] for number in anatomy.order], layout.pack(hidden), layout, True, record)
        norm = final_norm(anatomy.family)
        states = [layout.pack(one) for one in Recorded(record[HIDDEN])]
        states = [normed(rows, anatomy.network.get_submodule(norm)) if norm else rows for rows in states]
        return [head_logits(anatomy, rows, layout, True, {})[0] for rows in states]

    @property
    def no_gradients(self) -> str:
        return TEXT_TO_TEXT if self.anatomy.is_seq2seq else ""

    def vectors(self, baseline: bool = False) -> Tensor:
        """What the input stage gives for the tokens, or for the baseline: (texts, tokens, size)."""
        inputs = self.baseline_inputs if baseline else self.inputs
        with torch.no_grad():
            if not self.anatomy.layers:
                found: Tensor = self.anatomy.tokens(inputs["input_ids"])
                return found
            return embedded(self.anatomy, inputs)[0]

    def at(self, points: Tensor) -> Tensor:
        """Logits (steps, …) of points (steps, texts, tokens, size) in place of `vectors`."""
        steps, anatomy = len(points), self.anatomy
        hidden = points.transpose(0, 1).flatten(0, 1)  # first texts, then second ones
        if not anatomy.layers:
            inputs = {name: value.expand(steps, -1) for name, value in self.inputs.items()}
            with _giving(anatomy.tokens, hidden):
                return run(anatomy, inputs, {})
        _, mask, types = embedded(anatomy, self.inputs)
        layout = Packed(mask.repeat_interleave(steps, dim=0), anatomy.is_causal)
        layout.types = None if types is None else types.repeat_interleave(steps, dim=0)
        return from_embedded(anatomy, hidden, layout, {})

    def of_tokens(self, values: Tensor) -> list[float]:
        """Values (texts, tokens) of `vectors` as one for each token of the sequence. Those of a prompt are left out."""
        if self.anatomy.layers and self.anatomy.head.splits_pairs:
            real = split_pairs(self.inputs)["attention_mask"].bool()
            if len(self._counts) == 1:  # one text, read twice
                return [float(value) for value in values.sum(dim=0)[real[0]]]
            return [float(value) for value in values[real]]
        return [float(value) for value in values[0, values.shape[1] - len(self.ids) :]]


class _giving:
    """A module that gives the same output, whatever it reads."""

    def __init__(self, module: nn.Module, output: Tensor) -> None:
        self.module, self.output = module, output

    def __enter__(self) -> None:
        self.handle = self.module.register_forward_hook(lambda module, given, output: self.output)

    def __exit__(self, *error: object) -> None:
        self.handle.remove()
