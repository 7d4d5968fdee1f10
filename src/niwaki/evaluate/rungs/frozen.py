"""The pretrained encoder as it is, nothing trained, and a linear model on its last hidden states."""

from collections.abc import Sequence

import numpy as np
import torch

from niwaki.answers._kind import Input, Rows, chunked
from niwaki.answers.label import Label
from niwaki.evaluate.ladder import Answerer, Rung
from niwaki.evaluate.rungs._dense import Dense
from niwaki.evaluate.rungs._linear import Fitted
from niwaki.evaluate.rungs._spans import Spans
from niwaki.models.model import load_folder
from niwaki.tasks._task import Features
from niwaki.train.feed import Feed
from niwaki.train.infer import hidden_of
from niwaki.train.precision import resolve

MOST = {"tags": 5000, "span": 2000}  # of sentences, every word has features of its own; questions have long texts


class Frozen(Rung):
    name = "frozen encoder + linear model"
    most_rows = 10_000

    def fit(self) -> Answerer | None:
        encoder = Encoder(self)
        self.most_rows = MOST.get(self.task.answer, self.most_rows)
        if self.task.answer == "span":
            return Spans(self.task, self.train(), encoder)
        vectors = encoder.words if self.task.answer == "tags" else encoder.texts
        return Fitted(self.task, self.train(), [Dense(vectors)])


class Encoder:
    """Texts, or sentences as words, to vectors. Every text is read by itself, those of a pair too."""

    def __init__(self, rung: Rung, precision: str = "") -> None:
        self.model = load_folder(rung.model, rung.task.head)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.network.to(self.device)
        self.precision = precision or resolve("auto")
        self.kind = rung.task.kind
        self.max_tokens = min(rung.task.max_tokens, self.model.anatomy.max_tokens)

    def texts(self, texts: Sequence[str]) -> np.ndarray:
        """(texts, width): the mean over the tokens of a text, marks too; the same text is read once."""
        different = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        rows = Label().encode(different, self.model.tokenizer.backend_tokenizer, self.max_tokens)
        return self._hidden(rows, per_token=False)[[different[text] for text in texts]]

    def words(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        """(words of all sentences, width): the state at each word's first token; 0 for a word that has none."""
        return np.concatenate([self._words(some) for some in chunked(sentences)])

    def _words(self, sentences: Sequence[Sequence[str]]) -> np.ndarray:
        rows = self.rows(sentences)
        hidden = self._hidden(rows, per_token=True)
        starts = zip(rows.ids.starts[:-1], rows.notes, strict=True)
        places = np.concatenate([np.where(found >= 0, start + found, -1) for start, (_, found) in starts])
        return np.where(places[:, None] >= 0, hidden[places], 0)

    def rows(self, inputs: Sequence[Input]) -> Rows:
        """Sequences as a model for the task reads them: a question together with its text."""
        return self.kind.encode(inputs, self.model.tokenizer.backend_tokenizer, self.max_tokens)

    def of(self, inputs: Sequence[Input], rows: Rows, chosen: np.ndarray) -> np.ndarray:
        return self._hidden(rows, per_token=True)[chosen]

    def _hidden(self, rows: Rows, per_token: bool) -> np.ndarray:
        feed = Feed(Features(rows, np.zeros(0)), self.model, self.device)
        return hidden_of(self.model, feed, self.precision, per_token)
