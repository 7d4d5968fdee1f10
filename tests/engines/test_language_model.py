"""Uses of a language model in all engines: masks, scores of tokens."""

import pytest

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.engines.predictor import Predictor

MASK = tiny.tokenizer().mask_token_id


def test_engines_fill_alike(tmp_path):
    answer = Likelihood(mask_token_id=MASK).to_json()
    folder = tiny.with_graphs(tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer), tmp_path / "model")
    onnx, torch = (Predictor(folder, engine).fill(["the ___ was dull", "___"], top=3) for engine in ("onnx", "torch"))
    for one, other in zip(onnx, torch, strict=True):
        assert [found.id for found in one.masks[0]] == [found.id for found in other.masks[0]]
        assert one.masks[0][0].probability == pytest.approx(other.masks[0][0].probability, abs=1e-5)


def test_another_answer_type_leaves_the_predictor_as_it_is(tmp_path):
    answer = Likelihood(scoring="causal").to_json()
    model = tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True)
    predictor = Predictor(tiny.with_graphs(model, tmp_path / "model"))
    before = predictor.predict("the plot was dull")
    (found,) = predictor.scoring_tokens().predict("the plot was dull")
    assert found.log_likelihood == pytest.approx(before[0].log_likelihood, rel=1e-5)
    assert predictor.predict("the plot was dull") == before
