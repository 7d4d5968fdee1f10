"""DeBERTa v2 and v3: what is not supported."""

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.skeleton import MASKED_LM, build

TINY = {
    "relative_attention": True,
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "pos_att_type": ["c2p", "p2c"],
    "position_buckets": 8,
    "max_relative_positions": 20,
}


@pytest.mark.parametrize(
    ("key", "value"),
    [("conv_kernel_size", 3), ("share_att_key", False), ("position_biased_input", True), ("type_vocab_size", 2)],
)
def test_other_networks_are_rejected_by_name(key, value):
    values = tiny.config("deberta_v2", 1, 32, 4, 64, [], MASKED_LM)
    with pytest.raises(InputError, match=f"a deberta-v2 with .*{key}.* is not supported"):
        build({**values, key: value})
