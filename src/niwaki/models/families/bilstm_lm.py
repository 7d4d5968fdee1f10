"""Bidirectional LSTM language models (Peters et al. 2018, ELMo): one stack reads from the left, one from the right."""

from niwaki.models.families._lstm_lm import LstmLanguageModel, vocabulary_head


class BiLstmLm(LstmLanguageModel):
    """Both stacks share the token table and the output matrix. ELMo's character convolution, projections and skip connection are left
    out."""

    head = vocabulary_head(directions=2)

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import lstm_lm
        from niwaki.models.networks.attention_free import register_networks

        register_networks(
            lstm_lm.BiLstmLmConfig,
            lstm_lm.BiLstmLmForMaskedLM,
            lstm_lm.BiLstmLmForSequenceClassification,
            lstm_lm.BiLstmLmForTokenClassification,
            lstm_lm.BiLstmLmForQuestionAnswering,
        )
