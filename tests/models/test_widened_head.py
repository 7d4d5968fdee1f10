"""MobileBERT's masked-LM head: the table scores the first columns of a vector, a second matrix the rest."""

import torch

import tiny
from niwaki.models.skeleton import MASKED_LM
from niwaki.models.widened_head import WidenedHead


@torch.no_grad()
def test_scores_are_sums_of_both_products():
    network = tiny.model("mobilebert", layers=1, head=MASKED_LM, labels=[]).network
    head, rows = network.cls.predictions, torch.randn(3, 32)
    assert type(head) is WidenedHead
    table = network.mobilebert.embeddings.word_embeddings.weight  # (tokens, 20)
    wanted = rows[:, :20] @ table.T + rows[:, 20:] @ head.dense.weight + head.bias
    torch.testing.assert_close(head.scores(rows), wanted)
