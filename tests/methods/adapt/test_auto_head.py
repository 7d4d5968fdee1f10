"""The automatic head: outside a plan it is `pooled_head`; plans choose by the rows (tests/run/test_auto_train.py)."""

import tiny
from niwaki.methods.adapt.auto_head import AutoHead
from niwaki.methods.adapt.pooled_head import PooledHead


def test_without_a_plan_it_is_the_pooled_head():
    found, wanted = (
        kind(mode="mean", dense=False).dry_prepare(tiny.model()).blueprint.edits for kind in (AutoHead, PooledHead)
    )
    assert found == wanted and len(found) == 1
