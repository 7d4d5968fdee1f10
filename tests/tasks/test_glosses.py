"""Vectors of glosses: encoded, cached, reduced and smoothed."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.tasks import _glosses as glosses


def test_gloss_vectors_are_cached_by_content(tmp_path, monkeypatch, bert_folder):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    texts = ["a film", "the very long plot of a film with a start and an end", "a plot"]
    first = glosses.encoded(str(bert_folder), texts)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, atol=1e-2)
    monkeypatch.setattr(glosses, "by_encoder", lambda *_: pytest.fail("was read before"))
    np.testing.assert_array_equal(glosses.encoded(str(bert_folder), texts), first)
    monkeypatch.setattr(glosses, "by_encoder", lambda folder, texts: np.ones((len(texts), 2)))
    assert glosses.encoded(str(bert_folder), texts[:2]).shape == (2, 2)  # other texts
    (kept,) = (
        path for path in (tmp_path / "niwaki" / "glosses").iterdir() if len(np.load(path, allow_pickle=False)) == 3
    )
    kept.write_bytes(kept.read_bytes()[:60])
    assert glosses.encoded(str(bert_folder), texts).shape == (3, 2)  # damaged: made again


def test_gloss_vector_is_the_mean_of_the_last_hidden_states(bert_folder, monkeypatch):
    monkeypatch.setattr(glosses, "has_bf16", lambda: False)
    model = tiny.model("bert", ffn=256)
    found = glosses.by_encoder(bert_folder, ["a film", "the plot was very dull"])
    given = model.tokenizer(["the plot was very dull"], return_tensors="pt")
    with torch.no_grad():
        states = model.network(**given, output_hidden_states=True).hidden_states[-1][0].mean(dim=0).numpy()
    np.testing.assert_allclose(found[1], states / np.linalg.norm(states), atol=1e-4)


def test_reduced_vectors_keep_distances():
    vectors = np.random.default_rng(0).normal(size=(30, 3)) @ np.random.default_rng(1).normal(size=(3, 8))
    found = glosses.reduced(vectors.astype(np.float32), 5)
    assert found.shape == (30, 5) and np.abs(found[:, 3:]).max() < 1e-3  # three directions are all there is
    assert (found**2).sum(axis=1).mean() == pytest.approx(1, rel=1e-4)
    apart = [np.linalg.norm(one[:, None] - one[None], axis=-1) for one in (vectors, found)]
    ratio = apart[0][apart[0] > 0] / apart[1][apart[0] > 0]
    assert ratio.std() / ratio.mean() < 1e-3
    assert glosses.reduced(vectors[:, :2], 4).shape == (30, 4)


def test_smoothed_vectors_match_values_computed_by_hand():
    found = glosses.smoothed(np.array([[1.0, 0], [0, 1]]), [[], [0]], 1.0)
    np.testing.assert_allclose(found, [[1, 0], [0.5**0.5, 0.5**0.5]])
