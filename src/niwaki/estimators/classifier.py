"""A classifier of texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin

from niwaki.core.json_types import Json
from niwaki.data.objects import to_inputs
from niwaki.estimators._base import TextEstimator
from niwaki.estimators._errors import EstimatorInputError, value_errors
from niwaki.estimators._targets import check_labels, classes_in, label_names


class Classifier(ClassifierMixin, TextEstimator):
    """Learns one class for each text, or pair of texts, with a small pretrained model.

    model: the pretrained model to start from: an embedded name, a folder, or a Hugging Face id
    method: the recipe that makes the model, by name or as a .toml file; "auto" chooses by the number of rows
    balanced: whether rare classes weigh more in the loss
    epochs: passes over the rows in every training stage; None leaves them to the recipe
    max_tokens: texts are cut after this many tokens
    overrides: further settings of the recipe, such as "stages.0.train.lr=1e-4"
    random_state: seed of all random numbers
    verbose: whether to show progress on stderr

    After `fit`: `classes_`, `n_features_in_` (1 for texts, 2 for pairs) and `model_`, whose `predictor` is what `niwaki.load` returns.

    >>> Classifier().fit(["a warm film", "a dull plot"], ["good", "bad"]).predict(["a warm plot"])
    """

    _task: ClassVar[str] = "classification"
    _answer: ClassVar[str] = "label"
    classes_: np.ndarray
    _names: list[str]  # of the model's labels, in the order of classes_

    def __init__(
        self,
        model: str | Path = "minilm",
        method: str = "auto",
        *,
        balanced: bool = False,
        epochs: float | None = None,
        max_tokens: int = 128,
        overrides: Sequence[str] = (),
        random_state: object = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            model,
            method,
            epochs=epochs,
            max_tokens=max_tokens,
            overrides=overrides,
            random_state=random_state,
            verbose=verbose,
        )
        self.balanced = balanced

    def fit(self, X: object, y: object) -> Self:
        """Trains on texts X and one class for each text."""
        with value_errors(data="X"):
            inputs = to_inputs(X)
            check_labels(inputs, y)
            classes, codes = classes_in(y)
            names = label_names(classes)
            more = ["data.balanced=true"] if self.balanced else []
            self._fit(inputs, [names[code] for code in codes], more)
        self.classes_, self._names = classes, names
        return self

    def predict_proba(self, X: object) -> np.ndarray:
        """(texts, classes) probabilities, in the order of `classes_`."""
        rows = [answer.probabilities for answer in self._answers(X)]  # type: ignore[attr-defined]
        return np.array([[row[name] for name in self._names] for row in rows])

    def predict(self, X: object) -> np.ndarray:
        """The most probable class of each text."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def _document(self) -> Json:
        classes = {"names": self._names, "values": self.classes_.tolist(), "dtype": self.classes_.dtype.str}
        return {**super()._document(), "classes": classes}

    def _restore(self, document: Json) -> None:
        labels = self.model_.predictor.labels
        saved = document.get("classes") or {}
        self._names = saved.get("names") or sorted(labels)
        dtype = saved.get("dtype", "O")
        self.classes_ = np.array(saved.get("values") or self._names, dtype=object if dtype == "|O" else dtype)
        if sorted(self._names) != sorted(labels) or len(self.classes_) != len(labels):
            raise EstimatorInputError(
                f"{self.model_.folder}: its classes do not match the labels of its model; save it again"
            )
