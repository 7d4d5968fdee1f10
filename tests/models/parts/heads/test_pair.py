"""The head for pairs: its features by hand, and the same logits packed, padded, from transformers, after loading and in ONNX Runtime."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.engines.predictor import Predictor
from niwaki.methods.adapt.pair_head import PairHead
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import load_folder
from niwaki.models.parts.heads.pair import pair_features
from niwaki.models.pooling import pool

PAIRS = [("a good film", "the plot was very dull"), ("fine", "a warm story and a bright scene"), ("an end", "an end")]


def test_features_of_two_embeddings():
    found = pair_features(torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, -2.0]]))
    product = [0.0, -0.8 * 2**0.5]
    torch.testing.assert_close(found, torch.tensor([[0.6, 0.8, 0.0, -1.0, 0.6, 1.8, *product, -0.8]]))


def prepared(family: str, mode: str):
    """With random weights in the head, which begins with zeros."""
    model = PairHead().prepare(tiny.model(family, niwaki_pooling={"mode": mode}), None)
    with torch.no_grad():
        model.network.head.linear.weight.normal_(generator=torch.Generator().manual_seed(0))
    return model


def batch_of(model, texts):
    rows = [model.tokenizer.backend_tokenizer.encode(*(text if isinstance(text, tuple) else (text,))) for text in texts]
    longest = max(len(row.ids) for row in rows)
    arrays = {
        "input_ids": [row.ids for row in rows],
        "attention_mask": [row.attention_mask for row in rows],
        "token_type_ids": [row.type_ids for row in rows],
    }
    return {
        name: torch.tensor([values + [0] * (longest - len(values)) for values in lists])
        for name, lists in arrays.items()
    }


@pytest.mark.parametrize(("family", "mode"), [*((family, "mean") for family in tiny.FAMILIES), ("bert", "cls")])
@torch.no_grad()
def test_logits_compare_embeddings_of_both_texts(family, mode, tmp_path):
    model = prepared(family, mode)
    inputs, body = batch_of(model, PAIRS), model.anatomy.trunk
    sides = [batch_of(model, [pair[side] for pair in PAIRS]) for side in (0, 1)]
    embeddings = [
        pool(
            body(side["input_ids"], attention_mask=side["attention_mask"]).last_hidden_state,
            side["attention_mask"],
            mode,
        )
        for side in sides
    ]
    wanted = model.network.head.linear(pair_features(*embeddings))
    batch = tiny.Batch(inputs, torch.zeros(3), torch.arange(3))
    for found in (run_padded(model.anatomy, inputs), forward(model.anatomy, batch).logits):
        torch.testing.assert_close(found, wanted, atol=2e-5, rtol=0)
    folder = tiny.with_graphs(model, tmp_path / "model")
    assert torch.equal(forward(load_folder(folder).anatomy, batch).logits, forward(model.anatomy, batch).logits)
    for engine in ("onnx", "torch"):
        predictor = Predictor(folder, engine, threads=1)
        np.testing.assert_allclose(predictor.logits(predictor.tokenize(PAIRS)), wanted.numpy(), atol=2e-5)


@torch.no_grad()
def test_a_single_text_is_compared_with_itself():
    model = prepared("bert", "mean")
    single, twice = (
        run_padded(model.anatomy, batch_of(model, texts))
        for texts in (["a good film"], [("a good film", "a good film")])
    )
    torch.testing.assert_close(single, twice)


@torch.no_grad()
def test_a_narrower_network_keeps_the_features_of_its_dimensions():
    """The head of the cut network reads the same columns: those of u, v, |u - v|, u * v, and the cosine."""
    model = prepared("bert", "mean")
    linear = model.network.head.linear
    linear.weight.copy_(torch.randn(linear.weight.shape))
    hidden, keep = model.anatomy.hidden_size, [0, 3, 5, 6]
    narrow = model.clone()
    narrow.apply_edit(HiddenSize(keep=keep))
    columns = [part * hidden + place for part in range(4) for place in keep] + [4 * hidden]
    assert torch.equal(narrow.network.head.linear.weight, linear.weight[:, columns])
    assert run_padded(narrow.anatomy, batch_of(narrow, PAIRS)).shape == (len(PAIRS), len(linear.weight))
