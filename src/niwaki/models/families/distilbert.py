"""DistilBERT (Sanh et al. 2019): no token types, a ReLU head."""

from niwaki.models.family import ConfigKeys, Family, HeadPaths, InputPaths, LayerPaths, VocabularyPaths


class DistilBert(Family):
    body = "distilbert"
    layer_list = "transformer.layer"
    layer = LayerPaths(
        attention_module="attention",
        query="attention.q_lin",
        key="attention.k_lin",
        value="attention.v_lin",
        out="attention.out_lin",
        attention_norm="sa_layer_norm",
        ffn_in="ffn.lin1",
        activation="ffn.activation",
        ffn_out="ffn.lin2",
        ffn_norm="output_layer_norm",
        attention_dropout="attention.dropout",
        ffn_dropout="ffn.dropout",
    )
    inputs = InputPaths(other_tables=("embeddings.position_embeddings",), uses_token_types=False)
    head = HeadPaths(
        inner=("pre_classifier",),
        activation="relu",
        vocabulary=VocabularyPaths(
            dense="vocab_transform", activation="activation", norm="vocab_layer_norm", table="vocab_projector"
        ),
    )
    keys = ConfigKeys(depth="n_layers", hidden_size="dim", heads="n_heads", ffn_size="hidden_dim")
    tokenizers = ("DistilBert",)
