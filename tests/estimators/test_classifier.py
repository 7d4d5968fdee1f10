import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import niwaki
from niwaki.core.errors import InputError
from niwaki.estimators import Classifier


def test_learns_and_predicts_the_most_probable_class(fitted, rows):
    texts, labels = rows
    probabilities = fitted.predict_proba(texts[120:])
    assert fitted.classes_.tolist() == ["bad", "good"] and fitted.n_features_in_ == 1
    assert probabilities.shape == (40, 2) and np.allclose(probabilities.sum(axis=1), 1)
    assert (fitted.predict(texts[120:]) == fitted.classes_[probabilities.argmax(axis=1)]).all()
    assert fitted.score(texts[120:], labels[120:]) >= 0.75


def test_predicts_from_every_kind_of_texts(fitted, rows):
    texts = rows[0][:5]
    expected = fitted.predict_proba(texts)
    for given in (
        np.array(texts),
        pd.Series(texts, index=range(5, 10)),
        pl.Series(texts),
        pd.DataFrame({"review": texts}),
    ):
        assert (fitted.predict_proba(given) == expected).all()


@pytest.mark.parametrize("names", [[7, -1], [True, False], ["", "x "], [1.0, 2.0]], ids=str)
def test_classes_keep_their_type(settings, rows, names):
    texts, labels = rows
    y = np.where(labels[:40] == "good", names[0], names[1])
    found = Classifier(**settings, epochs=1).fit(texts[:40], y)
    assert found.classes_.tolist() == sorted(names) and found.classes_.dtype == y.dtype
    assert found.predict(texts[:3]).dtype == y.dtype


def test_pairs_of_texts(settings, rows):
    texts, labels = rows
    pairs = list(zip(texts[:40], texts[40:80], strict=True))
    found = Classifier(**settings, epochs=1).fit(pairs, labels[:40])
    frame = pd.DataFrame(pairs, columns=["premise", "hypothesis"])
    assert found.n_features_in_ == 2 and (found.predict_proba(frame) == found.predict_proba(pairs)).all()


def test_same_seed_gives_the_same_model(settings, rows):
    texts, labels = rows
    first, same, other = (
        Classifier(**settings, epochs=1, random_state=seed).fit(texts[:40], labels[:40]).predict_proba(texts)
        for seed in (3, np.int64(3), np.random.RandomState(0))
    )
    assert (first == same).all() and (first != other).any()


def test_works_in_a_pipeline_and_a_grid_search(settings, rows):
    texts, labels = rows
    steps = [
        ("lower", FunctionTransformer(lambda some: [text.lower() for text in some])),
        ("model", Classifier(**settings)),
    ]
    search = GridSearchCV(Pipeline(steps), {"model__epochs": [0.1, 10]}, cv=2, error_score="raise")
    search.fit(texts[:80], labels[:80])
    assert search.best_params_ == {"model__epochs": 10} and search.score(texts[80:], labels[80:]) > 0.6


def test_parameters_are_stored_untouched_and_cloned(settings):
    estimator = Classifier(**settings, balanced=True, overrides=("seed=3",), max_tokens=16)
    assert clone(estimator).get_params() == estimator.get_params()
    assert estimator.set_params(epochs=2).epochs == 2
    with pytest.raises(NotFittedError):
        estimator.predict(["a"])


def test_a_dumped_estimator_predicts_the_same_in_a_new_process(fitted, rows, tmp_path):
    texts = rows[0][:8]
    joblib.dump((fitted, texts), tmp_path / "fitted.joblib")
    code = """
        import joblib, numpy, sys
        fitted, texts = joblib.load(sys.argv[1])
        numpy.save(sys.argv[2], fitted.predict_proba(texts))
        assert "torch" not in sys.modules
    """
    command = [sys.executable, "-c", textwrap.dedent(code), tmp_path / "fitted.joblib", tmp_path / "found.npy"]
    subprocess.run(command, check=True)
    assert (np.load(tmp_path / "found.npy") == fitted.predict_proba(texts)).all()


def test_saved_estimators_come_back(fitted, rows, tmp_path):
    texts = rows[0][:8]
    folder = fitted.save_pretrained(tmp_path / "saved")
    found = Classifier.from_pretrained(folder)
    assert found.get_params() == {**fitted.get_params(), "overrides": []}
    assert (found.predict_proba(texts) == fitted.predict_proba(texts)).all()
    assert niwaki.load(folder).labels == ["bad", "good"]


def test_models_of_another_kind_are_rejected(fitted, tmp_path):
    folder = fitted.save_pretrained(tmp_path / "saved")
    with pytest.raises(InputError, match=r"answers with a label, and Regressor needs a number$"):
        niwaki.Regressor.from_pretrained(folder)


def test_a_failed_fit_leaves_nothing(settings, rows):
    texts, labels = rows
    temporary = Path(tempfile.gettempdir())
    before = set(temporary.glob("niwaki-*"))
    estimator = Classifier(**settings, overrides=["stages.0.train.lr=7"])
    with pytest.raises(ValueError, match="lr"):
        estimator.fit(texts, labels)
    assert not hasattr(estimator, "model_") and set(temporary.glob("niwaki-*")) == before


def test_folders_of_fitted_models_go_with_them(settings, rows):
    texts, labels = rows
    found = Classifier(**settings, epochs=1).fit(texts[:40], labels[:40])
    folder = found.model_.folder
    assert folder.is_dir()
    del found
    assert not folder.parent.exists()
