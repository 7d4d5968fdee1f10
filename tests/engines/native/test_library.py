"""The compiled library: loading, structures and choice of kernels."""

import ctypes

from niwaki.engines.native import library as c


def runnable() -> list[str]:
    return [name for name in c.KERNELS if c.kernels(name)]


def test_library_is_built_if_there_is_a_compiler():
    assert c.library() is not None, "run `make setup` again: the kernels were not built"
    assert "plain" in runnable()


def test_structure_sizes_match_the_library():
    sizes = (ctypes.c_int32 * len(c.STRUCTURES))()
    c.library().niwaki_sizes(sizes)
    assert list(sizes) == [ctypes.sizeof(one) for one in c.STRUCTURES]


def test_unknown_kernel_name_gives_none():
    assert c.kernels("avx9") is None
