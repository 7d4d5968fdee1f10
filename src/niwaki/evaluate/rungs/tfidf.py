"""TF-IDF of words, or of words and pairs of words, and a linear SVM: the better of both on the validation rows."""

from collections.abc import Sequence
from typing import Any, ClassVar

from niwaki.answers._kind import Input
from niwaki.evaluate.ladder import Answerer, Rung


class TfIdf(Rung):
    name: ClassVar[str] = "TF-IDF + linear SVM"

    def fit(self) -> Answerer | None:
        if self.task.answer != "label":
            return None
        train = self.task.splits()["train"]
        texts, gold = joined(self.task.inputs(train)), self.task.gold(train)
        fitted = [pipeline(pairs).fit(texts, gold) for pairs in (False, True)]
        best = max(fitted, key=self._validated)
        return lambda inputs: best.predict(joined(inputs)).tolist()

    def _validated(self, fitted: Any) -> float:
        table = self.task.splits()["validation"]
        said = fitted.predict(joined(self.task.inputs(table))).tolist()
        return self.task.scores(self.task.outcomes(said, table))[self.task.metric]


def pipeline(pairs: bool) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    words = TfidfVectorizer(ngram_range=(1, 2 if pairs else 1), sublinear_tf=pairs)
    return make_pipeline(words, LinearSVC(random_state=0))


def joined(inputs: Sequence[Input]) -> list[str]:
    return [given if isinstance(given, str) else " ".join(given) for given in inputs]
