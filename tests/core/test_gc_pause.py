"""The garbage collector is paused and restored."""

import gc

import pytest

from niwaki.core.gc_pause import without_gc


@pytest.mark.parametrize("enabled", [True, False])
def test_state_of_the_collector_is_restored_after_an_error(enabled):
    before = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        with pytest.raises(ValueError, match="inside"), without_gc():
            assert not gc.isenabled()
            raise ValueError("inside")
        assert gc.isenabled() == enabled
    finally:
        gc.enable() if before else gc.disable()
