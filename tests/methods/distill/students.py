"""Students without attention, and a context to prepare them."""

import torch

import tiny
from niwaki.methods._method import Context
from niwaki.methods.distill.averaging import Averaging
from niwaki.methods.distill.bilstm import BiLstm
from niwaki.methods.distill.cnn import Cnn

STUDENTS = [
    Averaging(width=8, ffn_size=16, layers=2),
    BiLstm(width=8, ffn_size=16, units=4),
    Cnn(width=8, ffn_size=16, filters=4),
]


TEXTS = [text for text, _ in tiny.sentences(30)]


def context(teacher=None, seed=0, pairs=False):
    def loss(model, batch):
        return torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)

    return Context(
        seed, None, teacher, lambda model, count: [tiny.batch(model, pairs=pairs)] * count, loss, None, lambda: TEXTS
    )
