"""DeiT (Touvron et al. 2021): a ViT with a second special token, which a teacher's answers trained."""

from dataclasses import replace

from niwaki.models.families.vit import ViT


class DeiT(ViT):
    body = "deit"
    inputs = replace(
        ViT.inputs,
        other_tables=("embeddings.cls_token", "embeddings.distillation_token", "embeddings.position_embeddings"),
    )
