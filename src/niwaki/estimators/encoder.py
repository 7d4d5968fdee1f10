"""Sentence embeddings as features."""

from pathlib import Path
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from niwaki.data.objects import to_inputs
from niwaki.engines.sharing import fetch, save_copy
from niwaki.estimators._errors import value_errors
from niwaki.estimators._fitted import FittedModel


class Encoder(TransformerMixin, BaseEstimator):
    """Turns texts into pooled sentence embeddings. Nothing is trained: `fit` opens the model.

    model: an encoder without a task head: an embedded name, a folder, or a Hugging Face id
    normalize: whether embeddings are scaled to length 1

    >>> Encoder().fit_transform(["a warm film", "a dull plot"]).shape
    (2, 384)
    """

    model_: FittedModel
    n_features_in_: int

    def __init__(self, model: str | Path = "minilm", *, normalize: bool = True) -> None:
        self.model = model
        self.normalize = normalize

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = False, True, True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: object, y: object = None) -> Self:
        """Opens the model. X is only checked."""
        from niwaki.models.sources import locate

        with value_errors(data="X", texts="X"):
            inputs = to_inputs(X)
            fitted = FittedModel(locate(str(self.model)), temporary=False)
            self.embedding_size_ = fitted.predictor.encode(inputs[:1]).shape[1]
        self.model_, self.n_features_in_ = fitted, 1 if isinstance(inputs[0], str) else 2
        return self

    def transform(self, X: object) -> np.ndarray:
        """float32 embeddings (texts, dimensions)."""
        check_is_fitted(self)
        with value_errors(data="X", texts="X"):
            return self.model_.predictor.encode(to_inputs(X), normalize=self.normalize)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The names of the columns of a DataFrame that `set_output` makes."""
        check_is_fitted(self)
        return np.array([f"embedding{k}" for k in range(self.embedding_size_)], dtype=object)

    def save_pretrained(self, folder: str | Path) -> Path:
        """Saves a copy of the encoder, which `niwaki.load` and `from_pretrained` read."""
        check_is_fitted(self)
        return save_copy(self.model_.folder, folder)

    @classmethod
    def from_pretrained(cls, source: str | Path, revision: str | None = None) -> Self:
        """A fitted encoder from a folder or a Hub id."""
        return cls(str(fetch(source, revision))).fit(["text"])
