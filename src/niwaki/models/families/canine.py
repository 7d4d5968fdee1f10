"""CANINE (Clark et al. 2021): reads characters, without a vocabulary; BERT's layers on a quarter as many vectors."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from niwaki.models.families.bert import Bert
from niwaki.models.family import HeadPaths, InputPaths, Network
from niwaki.models.value_rules import Rule, whole

if TYPE_CHECKING:
    from torch import Tensor, nn

    from niwaki.models.layer import Layer


class Canine(Bert):
    """The layer and the projection behind the others, which give vectors of single characters, are kept and not run: heads for whole
    texts do not read them."""

    body = "canine"
    inputs = InputPaths(
        token_table="char_embeddings.hash_table",
        other_tables=("char_embeddings.char_position_embeddings", "char_embeddings.token_type_embeddings"),
        norms=("char_embeddings.LayerNorm",),
        part="characters",
    )
    head = HeadPaths(inner=("canine.pooler.dense",), per_token=False, embeds=False)
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
    def published(cls, tensors: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
        from niwaki.models.hash_table import hash_names

        return hash_names(tensors)

    @classmethod
    def wrap(cls, layer: "nn.Module") -> "Layer":
        from niwaki.models.fixed_layer import FixedLayer

        assert cls.layer is not None
        return FixedLayer(layer, cls.layer)

    @classmethod
    def matrices(cls, network: Network) -> Iterator[str]:
        """Those of the layer before the others."""
        first = f"{cls.body}.initial_char_encoder.layer.0"
        for role in cls.wrap(network.get_submodule(first)).matrices():
            yield f"{first}.{getattr(cls.layer, role)}"
