"""MPNet (Song et al. 2020): no token types, one relative position bias shared by all layers."""

import torch
from torch import Tensor

from niwaki.models.anatomy import Anatomy


class MPNet(Anatomy):
    body = "mpnet"
    attention_module = "attention.attn"
    query = "attention.attn.q"
    key = "attention.attn.k"
    value = "attention.attn.v"
    out = "attention.attn.o"
    attention_norm = "attention.LayerNorm"
    ffn_in = "intermediate.dense"
    activation = "intermediate.intermediate_act_fn"
    ffn_out = "output.dense"
    ffn_norm = "output.LayerNorm"
    attention_dropout = "attention.attn.dropout"
    out_dropout = "attention.dropout"
    ffn_dropout = "output.dropout"
    uses_token_types = False
    other_tables = ("embeddings.position_embeddings",)
    pooled_square = ("classifier.dense",)
    pooled_final = "classifier.out_proj"
    max_positions_offset = 2
    relative_table = "encoder.relative_attention_bias"

    def position_bias(self, hidden: Tensor) -> Tensor | None:
        return self.trunk.encoder.compute_position_bias(hidden[:1])

    def relative_rows(self, longest: int) -> list[int]:
        return self.trunk.encoder.relative_position_bucket(torch.arange(1 - longest, longest)).tolist()
