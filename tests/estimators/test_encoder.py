import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tiny
from niwaki.estimators import Encoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A published encoder: weights without a task head."""
    folder = tmp_path_factory.mktemp("encoder")
    found = tiny.model(layers=1)
    found.network.bert.save_pretrained(folder)
    found.tokenizer.save_pretrained(folder)
    return folder


def test_embeddings_have_length_one_and_survive_pickling(folder, rows):
    encoder = Encoder(folder).fit(rows[0])
    found = encoder.transform(rows[0][:6])
    assert found.shape == (6, encoder.embedding_size_) == (6, 32) and found.dtype == np.float32
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert not np.allclose(np.linalg.norm(Encoder(folder, normalize=False).fit_transform(rows[0]), axis=1), 1)
    assert (pickle.loads(pickle.dumps(encoder)).transform(rows[0][:6]) == found).all()


def test_a_linear_model_learns_from_embeddings(folder, rows):
    texts, labels = rows
    pipeline = make_pipeline(Encoder(folder, normalize=False), LogisticRegression(max_iter=1000))
    assert pipeline.fit(texts[:120], labels[:120]).score(texts[120:], labels[120:]) >= 0.7


def test_frames_get_named_columns(folder, rows):
    found = Encoder(folder).set_output(transform="pandas").fit_transform(rows[0][:3])
    assert list(found.columns[:2]) == ["embedding0", "embedding1"] and found.shape == (3, 32)


def test_rejected_texts_and_models(folder, fitted, tmp_path):
    with pytest.raises(ValueError, match=r"^X: holds int64 values where texts"):
        Encoder(folder).fit([1, 2])
    with pytest.raises(ValueError, match="gives no sentence embeddings"):
        Encoder(fitted.save_pretrained(tmp_path / "classifier")).fit(["a"])


def test_check_estimator():
    assert {one["status"] for one in check_estimator(Encoder(), on_skip=None)} == {"passed"}
