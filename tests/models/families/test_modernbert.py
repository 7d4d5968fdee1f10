"""ModernBERT: which layers attend to near tokens alone, and how the head pools."""

import pytest
import torch

import tiny
from niwaki.models.forward import forward

TINY = {"local_attention": 8, "global_attn_every_n_layers": 2, "cls_token_id": 2, "sep_token_id": 3}


def test_every_second_layer_attends_to_all_tokens():
    """The config states the tokens of both sides; a window is the distance from which on none is attended to."""
    windows = [layer.mixer.window for layer in tiny.model("modernbert", layers=4).anatomy.layers]
    assert windows == [0, 5, 0, 5]


@pytest.mark.parametrize("mode", ["cls", "mean"])
@torch.no_grad()
def test_the_config_says_how_the_head_pools(mode):
    model = tiny.model("modernbert", classifier_pooling=mode)
    assert model.anatomy.head.pooling == mode
    batch = tiny.batch(model)
    torch.testing.assert_close(
        forward(model.anatomy, batch).logits, model.network(**batch.inputs).logits, atol=1e-5, rtol=0
    )
