"""The averaging network: a text of two tokens by hand, and every answer against the sum written out."""

import math

import pytest
import torch

import tiny
from niwaki.core.errors import Refused
from niwaki.models.skeleton import build


def by_hand():
    """Two columns; token 5 is (1, 0) with weight 3, token 6 is (0, 2) with weight 1; the hidden layer passes everything on."""
    network = build(
        {"model_type": "averaging", "architectures": ["AnyForSequenceClassification"], "vocab_size": 8,
         "embedding_size": 2, "hidden_size": 2, "num_hidden_layers": 1, "niwaki_texts": 1, "num_labels": 2}
    ).eval()  # fmt: skip
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.body.embeddings.word_embeddings.weight[5] = torch.tensor([1.0, 0.0])
        network.body.embeddings.word_embeddings.weight[6] = torch.tensor([0.0, 2.0])
        network.body.embeddings.token_weights.weight[5] = math.log(3)
        network.hidden[0].weight.copy_(torch.eye(2))
        network.classifier.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, -1.0]]))
    return network


@torch.no_grad()
def test_two_tokens_by_hand():
    """¾ · (1, 0) + ¼ · (0, 2) = (¾, ½); the logits are ¾ and -½. Padding of any id counts nothing."""
    found = by_hand()(torch.tensor([[5, 6, 5, 6]]), torch.tensor([[1, 1, 0, 0]])).logits
    torch.testing.assert_close(found, torch.tensor([[0.75, -0.5]]))


@torch.no_grad()
def test_a_pair_against_the_sum_written_out():
    model = tiny.model("averaging", layers=1)
    batch = tiny.batch(model, pairs=True)
    network = model.network
    vectors, weights = (network.body.embeddings.get_submodule(name).weight for name in ("word_embeddings", "token_weights"))  # fmt: skip
    for ids, mask, wanted in zip(
        batch.inputs["input_ids"].tolist(), batch.mask, tiny.logits(model, batch), strict=True
    ):
        ids = ids[: int(mask.sum())]
        cut = ids.index(model.tokenizer.sep_token_id) + 1
        one, two = (
            sum(math.exp(weights[number, 0]) * vectors[number] for number in text)
            / sum(math.exp(weights[number, 0]) for number in text)
            for text in (ids[:cut], ids[cut:])
        )
        seen = torch.cat([one, two, (one - two).abs(), one * two])
        hidden = torch.relu(network.hidden[0].weight @ seen + network.hidden[0].bias)
        torch.testing.assert_close(network.classifier.weight @ hidden + network.classifier.bias, wanted)


def test_tokens_cannot_be_answered_for():
    for head in ("TokenClassification", "QuestionAnswering"):
        with pytest.raises(Refused, match=f"answers for whole texts, not for tokens .{head}."):
            tiny.model("averaging", head=head)
