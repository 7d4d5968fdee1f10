"""Outputs of students and teachers with known values."""

import torch

import seq2seq
import teaching
import tiny
from niwaki.methods._method import Context
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import Batch, Outputs


def soft(student, teacher, batch, temperature):
    """The soft loss of a classification task."""
    return soft_cross_entropy(student, teacher, temperature)


def states(*values):
    """States of a decoder of width 1 for one text of two tokens, the second padding: embeddings, then the layers."""
    return Outputs(
        torch.zeros(1, 2, 5), decoder_hidden=tuple(torch.tensor([[[value], [99.0 * value]]]) for value in values)
    )


def decoder_of(layers):
    return seq2seq.seq2seq_model(decoder_layers=layers)


def context_with(teacher):
    return Context(0, None, teacher, None, None, None, None)


def uneven(*heads, neurons=None):
    """A model whose layers have so many heads, and neurons."""
    model = tiny.model("bert", layers=len(heads))
    model.apply_edit(Heads(keep=[list(range(count)) for count in heads]))
    if neurons:
        model.apply_edit(Ffn(keep=[list(range(count)) for count in neurons]))
    return model


def two_tokens(real=(1, 1)):
    return Batch({"attention_mask": torch.tensor([list(real)])}, torch.tensor([0]), torch.tensor([0]))


def teaching_with(outputs, depth):
    return Context(0, lambda given: outputs, teaching.layers(depth), None, None, soft, None)
