"""The averaging network: a text of two tokens by hand, and every answer against the sum written out."""

import math

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.networks.averaging import frequency_weights
from niwaki.models.skeleton import build


def by_hand(**more):
    """Two columns; token 5 is (1, 0) with weight 3, token 6 is (0, 2) with weight 1; the hidden layer passes everything on."""
    network = build(
        {
            "model_type": "averaging",
            "architectures": ["AnyForSequenceClassification"],
            "vocab_size": 8,
            "embedding_size": 2,
            "hidden_size": 2,
            "num_hidden_layers": 1,
            "niwaki_texts": 1,
            "num_labels": 2,
            **more,
        }
    ).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.body.embeddings.word_embeddings.weight[5] = torch.tensor([1.0, 0.0])
        network.body.embeddings.word_embeddings.weight[6] = torch.tensor([0.0, 2.0])
        network.body.embeddings.token_weights.weight[5] = math.log(3)
        network.hidden[0].weight[:, :2] = torch.eye(2)
        network.classifier.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, -1.0]]))
    return network


@torch.no_grad()
def test_two_tokens_by_hand():
    """¾ · (1, 0) + ¼ · (0, 2) = (¾, ½); the logits are ¾ and -½. Padding of any id counts nothing."""
    found = by_hand()(torch.tensor([[5, 6, 5, 6]]), torch.tensor([[1, 1, 0, 0]])).logits
    torch.testing.assert_close(found, torch.tensor([[0.75, -0.5]]))


@torch.no_grad()
def test_products_of_neighbours_by_hand():
    """One column for each of two distances. The first of two tokens is seen as its first column (1 of token 5, 0 of token 6) times
    1, and times 3 for the distance of two; the second as its second column (0 and 2) and 1. Tokens 5 6 5: products 1 · (2 + 1)
    and 0 · (0 + 1), their mean is 3/2; two apart 3 · (0 + 1), of which there is one: 3. Turned around, 6 5 6: 0 and 3, but two apart
    0. The hidden layer takes these two numbers instead of the mean of words."""
    network = by_hand(neighbours=2, num_products=1)
    first, second = network.body.factors
    first.weight.copy_(torch.tensor([[1.0, 0.0], [3.0, 0.0]]))
    second.weight.copy_(torch.tensor([[0.0, 1.0], [0.0, 1.0]]))
    second.bias.fill_(1.0)
    network.hidden[0].weight.copy_(torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]))
    ids = torch.tensor([[5, 6, 5, 6], [6, 5, 6, 5], [5, 6, 5, 5], [6, 5, 6, 6]])
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]])
    found = network(ids, mask).logits
    torch.testing.assert_close(found, torch.tensor([[1.5, -3.0], [1.5, 0.0], [0.0, 0.0], [0.0, 0.0]]))


def written_out(network, text):
    """The mean of the words, then, for each distance, of the products of those so far apart."""
    vectors, weights = (
        network.body.embeddings.get_submodule(name).weight for name in ("word_embeddings", "token_weights")
    )
    total = sum(math.exp(weights[number, 0]) for number in text)
    found = [sum(math.exp(weights[number, 0]) * vectors[number] for number in text) / total]
    for distance in range(1, network.config.neighbours + 1):
        pairs = list(zip(text, text[distance:], strict=False))
        rows = slice((distance - 1) * 5, distance * 5)
        first, second = ((factor.weight[rows], factor.bias[rows]) for factor in network.body.factors)
        products = [(first[0] @ vectors[one] + first[1]) * (second[0] @ vectors[two] + second[1]) for one, two in pairs]
        found.append(sum(products, torch.zeros(5)) / max(1, len(pairs)))
    return torch.cat(found)


@pytest.mark.parametrize("neighbours", [0, 1, 2, 30])
@torch.no_grad()
def test_a_pair_against_the_sum_written_out(neighbours):
    model = tiny.model("averaging", layers=1, neighbours=neighbours)
    batch = tiny.batch(model, pairs=True)
    network = model.network
    for ids, mask, wanted in zip(
        batch.inputs["input_ids"].tolist(), batch.mask, tiny.logits(model, batch), strict=True
    ):
        ids = ids[: int(mask.sum())]
        cut = ids.index(model.tokenizer.sep_token_id) + 1
        one, two = (written_out(network, text) for text in (ids[:cut], ids[cut:]))
        seen = torch.cat([one, two, (one - two).abs(), one * two])
        hidden = torch.relu(network.hidden[0].weight @ seen + network.hidden[0].bias)
        torch.testing.assert_close(network.classifier.weight @ hidden + network.classifier.bias, wanted)


def test_tokens_cannot_be_answered_for():
    for head in ("TokenClassification", "QuestionAnswering"):
        with pytest.raises(InputError, match=f"answers for whole texts, not for tokens .{head}."):
            tiny.model("averaging", head=head)


def test_initial_weights_from_frequencies():
    """A token with a relative frequency of FREQUENT, 1 of 1000, has half the weight of an unused one."""
    found = frequency_weights(torch.tensor([0, 1, 999, 0])).exp()
    torch.testing.assert_close(found, torch.tensor([1.0, 0.5, 1 / 1000, 1.0]), atol=1e-6, rtol=1e-3)
