"""LSTM language model (Merity et al. 2018, AWD-LSTM; Howard and Ruder 2018, ULMFiT), read from the left."""

from niwaki.models.families._lstm_lm import LstmLanguageModel, vocabulary_head


class LstmLm(LstmLanguageModel):
    head = vocabulary_head(directions=1)

    @classmethod
    def register_networks(cls) -> None:
        from niwaki.models.networks import lstm_lm
        from niwaki.models.networks.attention_free import register_networks

        register_networks(
            lstm_lm.LstmLmConfig,
            lstm_lm.LstmLmForMaskedLM,
            lstm_lm.LstmLmForSequenceClassification,
            lstm_lm.LstmLmForTokenClassification,
            lstm_lm.LstmLmForQuestionAnswering,
        )
