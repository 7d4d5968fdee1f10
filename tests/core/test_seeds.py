"""Draws depend on their names and on nothing else."""

from niwaki.core.seeds import derive, numpy_generator


def test_derive():
    assert derive(1, "a", 2) == derive(1, "a", 2) < 2**63
    assert len({derive(1, "a", 2), derive(1, "a", 3), derive(2, "a", 2), derive(1, "b", 2), derive(1)}) == 5
    assert derive(0, "step", 7) == 2131887408479480457  # a resumed run on another machine must draw the same


def test_generators_are_independent_of_each_other():
    first = numpy_generator(3, "x").random(4)
    numpy_generator(3, "y").random(100)
    assert (numpy_generator(3, "x").random(4) == first).all()
