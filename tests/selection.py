"""A covering selection of a large product for the fast tests; `make slow` runs the rest with the same test functions."""

import itertools
from collections.abc import Collection, Hashable, Iterable, Sequence

import pytest


def rest_slow(cases: Iterable[Hashable], fast: Collection[Hashable]) -> list:
    """Every case as a parameter, marked slow unless it is in `fast`."""
    cases = list(cases)
    assert set(fast) <= set(cases), "a fast case that does not exist"
    return [case if case in fast else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def covering(*axes: Sequence[object]) -> list:
    """The product of the axes as parameters. As many are fast as the longest axis has values, and every value of every axis is
    in one of these; the rest are slow."""
    fast = {tuple(number % len(axis) for axis in axes) for number in range(max(map(len, axes)))}
    places = itertools.product(*(range(len(axis)) for axis in axes))
    return [
        pytest.param(
            *(axis[place] for axis, place in zip(axes, case, strict=True)),
            marks=[] if case in fast else pytest.mark.slow,
        )
        for case in places
    ]


def chain(names: Iterable[str]) -> list[tuple[str, str]]:
    """Each name with the one that follows it, the last with the first: every name is once first and once second."""
    names = list(names)
    return list(zip(names, [*names[1:], names[0]], strict=True))


# they share all but the products of bytes with others, and tests of single kernels and random shapes run every one
ALIKE = ("avx_vnni", "avx_vnni_evex", "amx_in_c", "four_in_c")


def kernels_of_each_kind(names: Collection[str]) -> list:
    """Names of native kernels as parameters; those that resemble others are slow."""
    return rest_slow(names, [name for name in names if name not in ALIKE])


def selected(request: pytest.FixtureRequest, parameter: str) -> list:
    """The values of a parameter that this session runs in the module of the fixture: only these need to be built."""
    found = {}
    for item in request.session.items:
        parameters = getattr(item, "callspec", None)
        if item.path == request.path and parameters and parameter in parameters.params:
            found[parameters.params[parameter]] = None
    return list(found)
