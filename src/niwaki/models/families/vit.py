"""ViT (Dosovitskiy et al. 2021): patches of an image as tokens, norms before each block; the first token answers."""

from typing import ClassVar

from niwaki.core.errors import InputError
from niwaki.models.family import Config, Family, HeadPaths, InputPaths, LayerPaths, StackRules
from niwaki.models.value_rules import ACTIVATIONS, MOST_POSITIONS, WIDEST, Rule, flag, image_sides, one_of, sides, whole

RENAMED = (  # transformers 5 shortens the names of checkpoints
    (".layers.", ".encoder.layer."),
    (".attention.q_proj.", ".attention.attention.query."),
    (".attention.k_proj.", ".attention.attention.key."),
    (".attention.v_proj.", ".attention.attention.value."),
    (".attention.o_proj.", ".attention.output.dense."),
    (".mlp.fc1.", ".intermediate.dense."),
    (".mlp.fc2.", ".output.dense."),
)


class ViT(Family):
    body = "vit"
    layer_list = "layers"
    layer = LayerPaths(
        attention_module="attention",
        head_size_key="head_dim",
        query="attention.q_proj",
        key="attention.k_proj",
        value="attention.v_proj",
        out="attention.o_proj",
        attention_norm="layernorm_before",
        ffn_in="mlp.fc1",
        activation="mlp.activation_fn",
        ffn_out="mlp.fc2",
        ffn_norm="layernorm_after",
        attention_dropout="attention.attention_dropout",
        out_dropout="dropout",
        ffn_dropout="dropout",
        pre_norm=True,
        stack=StackRules(final_norm="layernorm", renamed=RENAMED),
    )
    inputs = InputPaths(
        token_table="",
        other_tables=("embeddings.cls_token", "embeddings.position_embeddings"),
        norms=(),
        projection="embeddings.patch_embeddings.projection",
        uses_token_types=False,
        limited=False,
        part="pixels",
        reads="images",
    )
    head = HeadPaths(dropout="", per_token=False, pooling="cls")
    config_rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("image_size", "patch_size"), image_sides),
        "num_channels": whole(16, 1),
        "qkv_bias": flag,
        "encoder_stride": whole(4096, 1),
        "pooler_output_size": whole(WIDEST, 1),
        "pooler_act": one_of(*ACTIVATIONS),
    }

    @classmethod
    def check_config(cls, config: Config) -> None:
        image, patch = sides(config.get("image_size") or 224), sides(config.get("patch_size") or 16)
        if image[0] < patch[0] or image[1] < patch[1]:
            raise InputError(
                f"config: patch_size {patch} is larger than image_size {image}; a patch is a part of the image"
            )
        if (image[0] // patch[0]) * (image[1] // patch[1]) >= MOST_POSITIONS:
            raise InputError(f"config: images of {image} have too many patches of {patch}; take larger patches")
