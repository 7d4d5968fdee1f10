"""DistilBERT (Sanh et al. 2019): no token types, a ReLU head."""

import torch
from torch import Tensor

from niwaki.models.anatomy import Anatomy


class DistilBert(Anatomy):
    body = "distilbert"
    layer_list = "transformer.layer"
    attention_module = "attention"
    query = "attention.q_lin"
    key = "attention.k_lin"
    value = "attention.v_lin"
    out = "attention.out_lin"
    attention_norm = "sa_layer_norm"
    ffn_in = "ffn.lin1"
    activation = "ffn.activation"
    ffn_out = "ffn.lin2"
    ffn_norm = "output_layer_norm"
    attention_dropout = "attention.dropout"
    ffn_dropout = "ffn.dropout"
    uses_token_types = False
    other_tables = ("embeddings.position_embeddings",)
    pooled_square = ("pre_classifier",)
    pooled_activation = "relu"
    depth_key, heads_key, ffn_size_key, hidden_size_key = "n_layers", "n_heads", "hidden_dim", "dim"

    def classify(self, hidden: Tensor) -> Tensor:
        return self.network.classifier(self.network.dropout(torch.relu(self.network.pre_classifier(hidden[:, 0]))))
