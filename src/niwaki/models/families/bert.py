"""BERT (Devlin et al. 2019), and all that is saved as it: MiniLM, TinyBERT."""

from torch import Tensor

from niwaki.models.anatomy import Anatomy


class Bert(Anatomy):
    body = "bert"
    attention_module = "attention.self"
    query = "attention.self.query"
    key = "attention.self.key"
    value = "attention.self.value"
    out = "attention.output.dense"
    attention_norm = "attention.output.LayerNorm"
    ffn_in = "intermediate.dense"
    activation = "intermediate.intermediate_act_fn"
    ffn_out = "output.dense"
    ffn_norm = "output.LayerNorm"
    attention_dropout = "attention.self.dropout"
    out_dropout = "attention.output.dropout"
    ffn_dropout = "output.dropout"
    pooled_square = ("bert.pooler.dense",)

    def classify(self, hidden: Tensor) -> Tensor:
        return self.network.classifier(self.network.dropout(self.trunk.pooler(hidden)))
