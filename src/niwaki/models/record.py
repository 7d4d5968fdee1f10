"""Activations that a caller of the forward pass can name. Each list of a record receives one activation a layer, (batch, tokens, …)."""

from niwaki.models.recorded import Activation

HIDDEN, SCORES = "hidden", "scores"
ATTENTION = "attention"  # weights after softmax, (batch, heads, tokens, tokens); 0 for padding, and without what a prefix receives
FINAL = "final"  # the last hidden states alone
STATES = ("queries", "keys", "values")  # of attention, before they are split into heads
POOLED = "pooled"  # what the head reads of a sequence, one vector (batch, hidden); not of heads per token
DECODER_HIDDEN = "decoder_hidden"  # of a sequence-to-sequence network
ROUTING = "routing"  # of experts: one tensor (rows, experts) of router logits for each layer that has some

Record = dict[str, list[Activation]]  # tensors with padding, or without
