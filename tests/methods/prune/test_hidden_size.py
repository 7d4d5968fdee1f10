"""Pruning hidden dimensions."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.methods.prune.hidden_size import HiddenSize


@pytest.mark.parametrize("family", tiny.SIZED)
def test_unused_dimensions_are_removed_first(family):
    """Their norms give 0 in them: only the norms' own sums still see them."""
    model = tiny.model(family)
    with torch.no_grad():
        for layer in model.anatomy.layers:
            for part in layer.norms:
                layer.part(part).weight[24:] = 0
                if getattr(layer.part(part), "bias", None) is not None:  # some norms only scale
                    layer.part(part).bias[24:] = 0
    pruned = HiddenSize(keep=0.75).prepare(model.clone(), CONTEXT)
    assert pruned.anatomy.hidden_size == 24
    found = pruned.anatomy.layers[0].part("ffn_norm").weight
    torch.testing.assert_close(found, model.anatomy.layers[0].part("ffn_norm").weight[:24])
    assert torch.isfinite(tiny.logits(pruned, tiny.batch(pruned))).all()
