"""Averaged static vectors and a linear model: the pretrained model's token embeddings, or a file of word vectors (GloVe)."""

from pathlib import Path
from typing import ClassVar

from niwaki.answers.embedding import normalized
from niwaki.evaluate.baseline import Baseline, PredictFunction
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines._linear import LinearModel
from niwaki.evaluate.baselines._unsupported import NO_LABELS, NO_PLACES, NO_WRITING
from niwaki.evaluate.baselines._vector_tables import Table, of_file, of_model
from niwaki.models.model import load_folder
from niwaki.tasks._task import Task

MAX_SENTENCES = 5000  # each of their words has features


class Static(Baseline):
    name = "averaged static vectors + linear model"
    max_rows = 20_000
    unsupported: ClassVar[dict[str, str]] = {
        "senses": NO_LABELS,
        "roles": NO_PLACES,
        "text": NO_WRITING,
        "verified": NO_WRITING,
        "span": "an average of word vectors does not contain the position of an answer",
    }

    @property
    def uses_model(self) -> bool:
        return not self.vectors

    def fit(self) -> PredictFunction:
        if self.task.answer == "tags":
            self.max_rows = MAX_SENTENCES
        table = self._table()
        if self.task.answer == "embedding":
            self.name = "averaged static vectors"
            return lambda inputs: normalized(table.mean(inputs)).tolist()
        vectors = table.around if self.task.answer == "tags" else table.mean
        return LinearModel(self.task, self.train(), [Dense(vectors)])

    def _table(self) -> Table:
        if not self.vectors:
            self.add_note("the pretrained model's token embeddings")
            return of_model(load_folder(self.model, self.task.head))
        self.add_note(f"vectors of {Path(self.vectors).name}")
        return vectors_for(self.task, self.vectors)


def vectors_for(task: Task, path: str) -> Table:
    """Word vectors for a task's rows. The plan reads them too, so that a bad file is reported before any work."""
    return of_file(Path(path).expanduser(), (text for rows in task.splits().values() for text in task.texts(rows)))
