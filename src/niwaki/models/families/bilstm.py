"""Bidirectional LSTM (Hochreiter and Schmidhuber 1997; Schuster and Paliwal 1997) over token vectors."""

from niwaki.models.families._attention_free import AttentionFree


class BiLstm(AttentionFree):
    """Its units are not cut: every gate of every unit hears all of them."""

    body_matrices = "lstm"

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import bilstm
        from niwaki.models.networks.attention_free import register_networks

        register_networks(
            bilstm.BiLstmConfig,
            bilstm.BiLstmForSequenceClassification,
            bilstm.BiLstmForTokenClassification,
            bilstm.BiLstmForQuestionAnswering,
        )
