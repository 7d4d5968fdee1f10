"""What all estimators share: parameters, what a saved one holds, and which models they take."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.estimators import Classifier, Regressor, _base
from niwaki.estimators._base import ESTIMATOR_FILE


@pytest.fixture
def trained(monkeypatch):
    """Settings and rows of the last training, which is skipped."""
    calls = []

    def train(table, settings):
        calls.append((table, settings))
        predictor = SimpleNamespace(predict=lambda texts: [SimpleNamespace(value=1.0)] * len(texts))
        return SimpleNamespace(folder=Path("fitted"), predictor=predictor)

    monkeypatch.setattr(_base, "train", train)
    return calls


def test_parameters_become_settings_of_the_training(trained):
    estimator = Regressor("albert", "quick", epochs=2, max_tokens=32, overrides=["data.test=0.2"], random_state=7)
    estimator.fit(["a film", "a plot"], [0.5, 1.5])
    ((table, settings),) = trained
    assert table.to_pydict() == {"text": ["a film", "a plot"], "label": [0.5, 1.5]}
    assert (settings.task, settings.model, settings.method, settings.seed) == ("regression", "albert", "quick", 7)
    assert (settings.epochs, settings.max_tokens, settings.overrides[-1]) == (2, 32, "data.test=0.2")
    assert estimator.n_features_in_ == 1


def test_pairs_are_two_columns(trained):
    estimator = Regressor().fit([("a", "b"), ("c", "d")], [0.5, 1.5])
    assert trained[0][0].column_names == ["text", "second", "label"] and estimator.n_features_in_ == 2


def test_inputs_are_one_dimensional_texts():
    tags = Classifier().__sklearn_tags__().input_tags
    assert (tags.one_d_array, tags.string, tags.two_d_array) == (True, True, False)


def test_a_saved_estimator_keeps_plain_parameters(trained, monkeypatch, tmp_path):
    saved = {}
    monkeypatch.setattr(_base, "save_copy", lambda source, target, files: saved.update(files) or target)
    estimator = Regressor(Path("my/model"), random_state=np.random.RandomState(0), overrides=("seed=3",))
    estimator.fit(["a film", "a plot"], [0.5, 1.5])
    assert estimator.save_pretrained(tmp_path / "out") == tmp_path / "out"
    document = saved[ESTIMATOR_FILE]
    assert document["estimator"] == "Regressor" and document["n_features_in"] == 1
    assert document["params"]["model"] == "my/model" and document["params"]["overrides"] == ["seed=3"]
    assert "random_state" not in document["params"]  # JSON cannot hold it


def test_the_upload_is_a_saved_copy(trained, monkeypatch):
    uploaded = []
    monkeypatch.setattr(_base, "save_copy", lambda source, target, files: target)
    monkeypatch.setattr(_base, "upload", lambda *given: uploaded.append(given) or "https://hub/me/mine")
    estimator = Regressor().fit(["a film", "a plot"], [0.5, 1.5])
    assert estimator.push_to_hub("me/mine", private=True) == "https://hub/me/mine"
    ((folder, *rest),) = uploaded
    assert folder.name == "model" and rest == ["me/mine", True, None] and not folder.parent.exists()


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """A folder that `from_pretrained` finds, with a model of some kind."""

    def put(kind: str, document: str = "") -> Path:
        answer_type = SimpleNamespace(to_json=lambda: {"kind": kind})
        monkeypatch.setattr(_base, "fetch", lambda source, revision: tmp_path)
        model = SimpleNamespace(folder=tmp_path, predictor=SimpleNamespace(answer_type=answer_type, labels=["a", "b"]))
        monkeypatch.setattr(_base, "FittedModel", lambda folder, temporary: model)
        if document:
            (tmp_path / ESTIMATOR_FILE).write_text(document)
            strict_json.load(tmp_path / ESTIMATOR_FILE)
        return tmp_path

    return put


def test_parameters_of_later_versions_are_ignored(fetched):
    folder = fetched("number", '{"version": 1, "params": {"epochs": 3, "later": 1}, "n_features_in": 2}')
    estimator = Regressor.from_pretrained(folder)
    assert estimator.epochs == 3 and estimator.n_features_in_ == 2 and not hasattr(estimator, "later")


def test_a_model_without_an_estimator_gets_defaults(fetched):
    assert Regressor.from_pretrained(fetched("number")).get_params() == Regressor().get_params()


def test_models_of_another_kind_are_rejected(fetched):
    with pytest.raises(InputError, match=r"answers with a label, and Regressor needs a number$"):
        Regressor.from_pretrained(fetched("label"))
