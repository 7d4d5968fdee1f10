"""A regressor on texts."""

from typing import ClassVar, Self

import numpy as np
import pyarrow as pa
from sklearn.base import RegressorMixin

from niwaki.core.errors import InputError
from niwaki.data.objects import to_inputs
from niwaki.estimators._base import TextEstimator
from niwaki.estimators._errors import value_errors
from niwaki.estimators._targets import check_labels


class Regressor(RegressorMixin, TextEstimator):
    """Learns a number for each text, or pair of texts, with a small pretrained model. Parameters as in `Classifier`.

    >>> Regressor().fit(["a warm film", "a dull plot"], [4.5, 1.0]).predict(["a warm plot"])
    """

    _task: ClassVar[str] = "regression"
    _answer: ClassVar[str] = "number"

    def fit(self, X: object, y: object) -> Self:
        """Trains on texts X and one number for each text."""
        with value_errors(data="X"):
            inputs = to_inputs(X)
            kind = check_labels(inputs, y)
            if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
                raise InputError(f"y: holds {kind} values; give numbers, or take niwaki.Classifier")
            values = np.asarray(y, dtype=np.float64).ravel()
            if not np.isfinite(values).all():
                raise InputError("y: has infinite numbers; drop them and their texts")
            self._fit(inputs, values.tolist())
        return self

    def predict(self, X: object) -> np.ndarray:
        """The number for each text."""
        return np.array([answer.value for answer in self._answers(X)])  # type: ignore[attr-defined]
