"""Bidirectional LSTM (Hochreiter and Schmidhuber 1997; Schuster and Paliwal 1997) over token vectors."""

from niwaki.models.families._reader import ReaderAnatomy
from niwaki.models.networks import bilstm
from niwaki.models.networks.reader import introduce


class BiLstm(ReaderAnatomy):
    """Its units are not cut: every gate of every unit hears all of them."""

    body_matrices = "lstm"

    @classmethod
    def introduce(cls) -> None:
        introduce(
            bilstm.BiLstmConfig,
            bilstm.BiLstmForSequenceClassification,
            bilstm.BiLstmForTokenClassification,
            bilstm.BiLstmForQuestionAnswering,
        )
