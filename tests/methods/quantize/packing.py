"""Packs what a trained rounding leaves in float, for comparison."""

from niwaki.models.embedding_tables import small_weights
from niwaki.models.module_paths import replace_modules
from niwaki.models.packed.int8 import pack_int8


def with_rest_packed(model):
    """What is not trained through a rounding, small tables and the head's inner matrices, gets its 8 bits when the stage ends."""
    model = model.clone()
    replace_modules(model.network, small_weights(model.anatomy), pack_int8)
    return model
