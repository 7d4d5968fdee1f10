"""The reference runs transformers as users do and gives the same answers as the predictor."""

import numpy as np
import pytest

import tiny
from engines.by_hand import numbers
from engines.kinds import INPUTS, KINDS, model_of
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.reference import Reference

TEXTS = [text for text, _ in tiny.sentences(40)]
PAIRS = list(zip(TEXTS[:20], TEXTS[20:], strict=True))


@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["single", "pairs"])
@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_the_reference_agrees_with_the_predictor(tmp_path, family, texts):
    """On the logits, which show more than labels: the model answers with a number."""
    model = tiny.model(family, labels=["value"])
    model.network.config.niwaki_answer = {"kind": "number"}
    model.save(tmp_path)
    found = Reference(tmp_path, 50).values(texts)
    np.testing.assert_allclose(found, Predictor(tmp_path, "torch", max_tokens=50).values(texts), atol=1e-5)
    assert np.std(found) > 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_reference_supports_every_answer_type(tmp_path, kind):
    model_of(kind).save(tmp_path)
    found, wanted = (
        of.values(INPUTS[kind]) for of in (Reference(tmp_path, 60), Predictor(tmp_path, "torch", max_tokens=60))
    )
    if kind in ("number", "embedding", "likelihood"):
        np.testing.assert_allclose(numbers(found), numbers(wanted), atol=1e-3)
    else:
        assert found == wanted


def test_the_reference_scores_texts_with_a_discriminator(tmp_path):
    """transformers gives its logits without an axis for labels."""
    answer = {"kind": "likelihood", "scoring": "detection", "passes": 0}
    tiny.with_graphs(tiny.model("electra", head="PreTraining", labels=[], niwaki_answer=answer), tmp_path)
    found = Reference(tmp_path, 24).values(TEXTS)
    assert np.allclose(found, Predictor(tmp_path).values(TEXTS), atol=1e-3) and np.ptp(np.array(found)[:, 0, 0]) > 0.1
