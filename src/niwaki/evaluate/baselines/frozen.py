"""The pretrained encoder without training, and a linear model on its last hidden states."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch

from niwaki.answers._answer_type import EncodedInputs, chunked
from niwaki.answers.embedding import normalized
from niwaki.answers.label import Label
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines._linear import LinearModel
from niwaki.evaluate.baselines._unsupported import NO_LABELS, NO_PLACES, NO_WRITING
from niwaki.models.features import Features
from niwaki.models.model import load_folder
from niwaki.train.collator import Collator
from niwaki.train.infer import hidden_of
from niwaki.train.precision import resolve_precision

MAX_SENTENCES = 5000  # each of their words has features


class Frozen(Baseline):
    name = "frozen encoder + linear model"
    transformer = True
    max_rows = 10_000
    unsupported: ClassVar[dict[str, str]] = {
        "senses": NO_LABELS,
        "roles": NO_PLACES,
        "text": NO_WRITING,
        "verified": NO_WRITING,
        # on SQuAD it had an F1 of .12 after 285 s, and shared words and shapes .41 after 20 s
        "span": "a linear model on frozen hidden states finds few answers, and slowly",
    }

    def fit(self) -> PredictFunction:
        if self.task.answer == "tags":
            self.max_rows = MAX_SENTENCES
        encoder = Encoder(self)
        if self.task.answer == "embedding":
            self.name = "frozen encoder, mean of its last hidden states"
            return lambda inputs: normalized(encoder.texts(inputs)).tolist()
        vectors = encoder.words if self.task.answer == "tags" else encoder.texts
        return LinearModel(self.task, self.train(), [Dense(vectors)])


class Encoder:
    """Vectors of texts or of words. The texts of a pair are encoded separately."""

    def __init__(self, baseline: Baseline, precision: str = "") -> None:
        self.model = load_folder(baseline.model, baseline.task.head)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.network.to(self.device)
        self.precision = precision or resolve_precision("auto")
        self.answer_type = baseline.task.answer_type
        self.max_tokens = min(baseline.task.max_tokens, self.model.anatomy.max_tokens)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, width): the mean over all tokens of a text, including special tokens. Equal texts are encoded once."""
        different = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        rows = Label().encode(different, self.model.tokenizer.backend_tokenizer, self.max_tokens)
        return self._hidden(rows, per_token=False)[[different[text] for text in texts]]

    def words(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """(words of all sentences, width): the state at each word's first token; 0 for a word that has none."""
        return np.concatenate([self._words(some) for some in chunked(sentences)])

    def _words(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        rows = self.answer_type.encode(sentences, self.model.tokenizer.backend_tokenizer, self.max_tokens)
        hidden = self._hidden(rows, per_token=True)
        starts = zip(rows.ids.starts[:-1], rows.metadata, strict=True)
        places = np.concatenate([np.where(found >= 0, start + found, -1) for start, (_, found) in starts])
        return np.where(places[:, None] >= 0, hidden[places], 0)

    def _hidden(self, rows: EncodedInputs, per_token: bool) -> np.ndarray:
        collator = Collator(Features(rows, np.zeros(0)), self.model, self.device)
        return hidden_of(self.model, collator, self.precision, per_token)
