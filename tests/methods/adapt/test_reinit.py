"""Re-initialized last layers."""

from dataclasses import replace

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.methods.adapt.reinit import Reinit, reinitialize
from niwaki.methods.quantize.rtn import Rtn
from niwaki.methods.share.share import Share
from seq2seq import seq2seq_model


def test_only_the_last_layers_and_the_pooler_change():
    model = tiny.model("bert", layers=3)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    after = Reinit(layers=2).prepare(model, CONTEXT).network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert all(any(part in name for part in (".layer.1.", ".layer.2.", "pooler")) for name in changed)
    for part in (".layer.1.", ".layer.2.", "pooler"):
        assert {name for name in before if part in name and name.endswith("dense.weight")} <= changed


def test_values_are_those_of_the_distribution():
    """1.0 and 0.0 by definition; the standard deviation of 10,000 draws is within 3 % of the one requested."""
    module = torch.nn.Sequential(torch.nn.Linear(100, 100), torch.nn.LayerNorm(100))
    torch.nn.init.uniform_(module[1].weight)
    torch.nn.init.uniform_(module[1].bias)
    reinitialize(module, 0.5, torch.Generator().manual_seed(1))
    assert (module[0].bias == 0).all() and (module[1].weight == 1).all() and (module[1].bias == 0).all()
    assert float(module[0].weight.detach().std()) == pytest.approx(0.5, rel=0.03)
    assert float(module[0].weight.detach().mean()) == pytest.approx(0.0, abs=0.02)


def test_the_seed_decides_the_weights():
    def drawn(seed):
        model = Reinit().prepare(tiny.model("bert"), replace(CONTEXT, seed=seed))
        return model.anatomy.layers[-1].part("query").weight

    assert torch.equal(drawn(3), drawn(3)) and not torch.equal(drawn(3), drawn(4))


def test_impossible_models_are_rejected():
    with pytest.raises(InputError, match="layers is 3; it must be less than the model's 3 layers"):
        Reinit(layers=3).dry_prepare(tiny.model("bert", layers=3))
    with pytest.raises(InputError, match="generates text"):
        Reinit().dry_prepare(seq2seq_model())
    with pytest.raises(InputError, match="packed"):
        Reinit().dry_prepare(Rtn().finish(tiny.model("bert")))
    with pytest.raises(InputError, match="share the weights"):
        Reinit().dry_prepare(Share(groups=1).prepare(tiny.model("bert"), CONTEXT))
