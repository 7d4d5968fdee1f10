"""The reference runs transformers as users do and says what the predictor says; the baseline learns what words can tell."""

import numpy as np
import pytest

import tiny
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.baseline import baseline
from niwaki.evaluate.reference import Reference
from niwaki.tasks.classification import Classification

TEXTS = [text for text, _ in tiny.sentences(40)]
PAIRS = list(zip(TEXTS[:20], TEXTS[20:], strict=True))


@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["single", "pairs"])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_reference_agrees_with_the_predictor(tmp_path, family, texts):
    tiny.model(family).save(tmp_path)
    found = Reference(tmp_path, 50).logits(texts)
    np.testing.assert_allclose(found, Predictor(tmp_path, "torch", max_tokens=50).logits(texts), atol=1e-5)


def test_the_baseline_learns_and_is_metered(rows_csv):
    found = baseline(Classification(path=str(rows_csv)))
    assert found["score"]["value"] > 0.8 and found["score"]["rows"] == 24
    assert found["spent"]["seconds"] > 0
