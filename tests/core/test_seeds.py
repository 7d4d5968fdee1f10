"""Draws depend on their names and on nothing else."""

import torch

from niwaki.core.seeds import derive, numpy_generator, seed_torch


def test_derive():
    assert derive(1, "a", 2) == derive(1, "a", 2) < 2**63
    assert len({derive(1, "a", 2), derive(1, "a", 3), derive(2, "a", 2), derive(1, "b", 2), derive(1)}) == 5
    assert derive(0, "step", 7) == 2131887408479480457  # a resumed run on another machine must draw the same


def test_generators_are_independent_of_each_other():
    first = numpy_generator(3, "x").random(4)
    numpy_generator(3, "y").random(100)
    assert (numpy_generator(3, "x").random(4) == first).all()


def test_torch_draws_what_it_draws_after_its_own_function(monkeypatch):
    torch.manual_seed(derive(3, "x"))
    wanted = torch.randn(5)
    seed_torch(derive(3, "x"))
    assert torch.equal(torch.randn(5), wanted)
    seeds = []
    monkeypatch.setattr(torch, "manual_seed", seeds.append)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    seed_torch(5)
    assert seeds == [5]  # on all devices
