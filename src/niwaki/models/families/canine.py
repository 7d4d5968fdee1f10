"""CANINE (Clark et al. 2021): reads characters, without a vocabulary; BERT's layers on a quarter as many vectors."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from niwaki.models.families.bert import Bert
from niwaki.models.family import HeadPaths, InputPaths, Network, StackRules
from niwaki.models.value_rules import Rule, whole


class Canine(Bert):
    """The layer and the projection behind the others, which give vectors of single characters, are kept and not run: heads for whole
    texts do not read them."""

    body = "canine"
    layer = replace(Bert.layer, stack=StackRules(kind="fixed"))
    inputs = InputPaths(
        token_table="char_embeddings.hash_table",
        other_tables=("char_embeddings.char_position_embeddings", "char_embeddings.token_type_embeddings"),
        norms=("char_embeddings.LayerNorm",),
        part="characters",
    )
    head = HeadPaths(inner=("canine.pooler.dense",), per_token=False, states_of_tokens=False)
    tokenizers = ("Canine",)
    config_rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("downsampling_rate", "upsampling_kernel_size"), whole(64, 1)),
        "num_hash_functions": whole(16, 1),
        "num_hash_buckets": whole(1 << 20, 1),
        "local_transformer_stride": whole(1 << 14, 1),
    }

    @classmethod
    def adapt_network(cls, network: Network) -> None:
        from niwaki.models.hash_table import set_hash_table

        set_hash_table(network, f"{cls.body}.char_embeddings")
        super().adapt_network(network)

    @classmethod
    def matrices(cls, network: Network) -> Iterator[str]:
        """Those of the layer before the others."""
        from niwaki.models.layer_kinds import layer_of

        first = f"{cls.body}.initial_char_encoder.layer.0"
        for role in layer_of(cls, network.get_submodule(first)).matrices():
            yield f"{first}.{getattr(cls.layer, role)}"
