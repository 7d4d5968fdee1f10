"""Activations that a caller of the forward pass can name. Each list of a record receives one tensor a layer, padded to (batch, tokens, …)."""

from torch import Tensor

HIDDEN, SCORES = "hidden", "scores"
STATES = ("queries", "keys", "values")  # of attention, before they are split into heads
POOLED = "pooled"  # hidden states of a sequence in one vector (batch, hidden), from heads that pool
DECODER_HIDDEN = "decoder_hidden"  # of a sequence-to-sequence network

Record = dict[str, list[Tensor]]
