"""Estimators on rows of numbers, as scikit-learn's checks give them: every row becomes a text. Only for tests."""

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from niwaki.estimators import Classifier, Regressor

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def texts(X: np.ndarray) -> list[str]:
    """A letter for each number, as far as the model's sequence reaches."""
    codes = np.clip(np.round(np.asarray(X, dtype=float) * 4) + 13, 0, 25).astype(int)
    return [" ".join(LETTERS[code] for code in row[:20]) for row in codes]


class Numbers:
    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = True, False, False
        for about in (tags.classifier_tags, tags.regressor_tags):
            if about is not None:
                about.poor_score = True  # a random network of three layers, trained for a moment
        return tags

    def fit(self, X, y=None):
        if y is None:
            return super().fit(texts(np.zeros((2, 1))), None)
        X, y = validate_data(self, X, y, dtype=float)
        features = self.n_features_in_
        super().fit(texts(X), y)
        self.n_features_in_ = features
        return self

    def _answers(self, X):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return super()._answers(texts(validate_data(self, X, reset=False, dtype=float)))


class NumberClassifier(Numbers, Classifier):
    pass


class NumberRegressor(Numbers, Regressor):
    pass
