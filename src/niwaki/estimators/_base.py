"""What the estimators share: parameters, fitting, saving. Learnt attributes end in an underscore, as in scikit-learn."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from niwaki.answers._answer_type import Answer
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.log import silenced
from niwaki.data.objects import to_inputs
from niwaki.engines.sharing import fetch, save_copy, upload
from niwaki.estimators._errors import value_errors
from niwaki.estimators._fitted import FittedModel
from niwaki.estimators._training import FitSettings, seed_of, train

ESTIMATOR_FILE = "sklearn.json"  # in a saved folder: the parameters and classes of the estimator


class TextEstimator(BaseEstimator):
    """Base of the estimators. X holds texts, or pairs of texts: a list, an array, a Series, or a frame of one or two columns."""

    _task: ClassVar[str]
    model_: FittedModel
    n_features_in_: int

    def __init__(
        self,
        model: str | Path = "minilm",
        method: str = "auto",
        *,
        epochs: float | None = None,
        max_tokens: int = 128,
        overrides: Sequence[str] = (),
        random_state: object = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.method = method
        self.epochs = epochs
        self.max_tokens = max_tokens
        self.overrides = overrides
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array, tags.input_tags.string = False, True, True
        return tags

    def _fit(self, inputs: Sequence[str | tuple[str, str]], label: Sequence[object], more: Sequence[str] = ()) -> None:
        """Trains on checked texts and labels."""
        pairs = [(text,) if isinstance(text, str) else text for text in inputs]
        texts = dict(zip(("text", "second"), (pa.array(part) for part in zip(*pairs, strict=True)), strict=False))
        settings = FitSettings(
            task=self._task,
            model=str(self.model),
            method=str(self.method),
            epochs=self.epochs,
            max_tokens=self.max_tokens,
            overrides=[*more, *self.overrides],
            seed=seed_of(self.random_state),
        )
        with silenced(not self.verbose):
            self.model_ = train(pa.table({**texts, "label": pa.array(label)}), settings)
        self.n_features_in_ = len(texts)

    def _answers(self, X: object) -> Sequence[Answer]:
        check_is_fitted(self)
        with value_errors(data="X", texts="X"):
            return self.model_.predictor.predict(to_inputs(X))

    def save_pretrained(self, folder: str | Path) -> Path:
        """Saves the fitted model and the estimator's parameters: `niwaki.load` and `from_pretrained` read the folder."""
        check_is_fitted(self)
        return save_copy(self.model_.folder, folder, {ESTIMATOR_FILE: self._document()})

    def push_to_hub(self, repo_id: str, *, private: bool | None = None, token: str | None = None) -> str:
        """Uploads the fitted model to the Hugging Face Hub and returns the address of the repository."""
        import tempfile

        check_is_fitted(self)
        with tempfile.TemporaryDirectory(prefix="niwaki-push-") as scratch:
            return upload(self.save_pretrained(Path(scratch) / "model"), repo_id, private, token)

    @classmethod
    def from_pretrained(cls, source: str | Path, revision: str | None = None) -> Self:
        """A fitted estimator from a folder or a Hub id: one that was saved here, or a fine-tuned model with the right head."""
        folder = fetch(source, revision)
        fitted = FittedModel(folder, temporary=False)
        kind = fitted.predictor.answer_type.to_json()["kind"]
        if kind != cls._answer:
            raise InputError(f"{source}: answers with a {kind}, and {cls.__name__} needs a {cls._answer}")
        path = folder / ESTIMATOR_FILE
        document: Json = strict_json.load(path) if path.is_file() else {}
        known = cls().get_params()
        estimator = cls(**{name: value for name, value in document.get("params", {}).items() if name in known})
        estimator.model_, estimator.n_features_in_ = fitted, int(document.get("n_features_in", 1))
        estimator._restore(document)
        return estimator

    _answer: ClassVar[str]

    def _restore(self, document: Json) -> None:
        """Sets the further learnt attributes of a loaded estimator."""

    def _document(self) -> Json:
        """What `from_pretrained` restores. Parameters that JSON cannot hold are left at their defaults."""
        plain = (str, int, float, bool, type(None))
        params = {name: str(value) if isinstance(value, Path) else value for name, value in self.get_params().items()}
        params["overrides"] = list(self.overrides)
        stored = {name: value for name, value in params.items() if isinstance(value, (*plain, list))}
        return {"version": 1, "estimator": type(self).__name__, "params": stored, "n_features_in": self.n_features_in_}
