import numpy as np
import pytest

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.api.looking import look as look_at
from niwaki.core import log
from niwaki.evaluate.looking.look import look, predicted


def test_every_part_is_there_or_has_a_reason(subject):
    """The last layer predicts what the model answers, and attention sums to one."""
    for given, more in (
        ("a good film was lovely", {}),
        (("a good film", "was dull"), {}),
        (["a", "good", "film"], {"head": "TokenClassification", "labels": ["O", "B-X"]}),
        (("the film", "a good plot"), {"head": "QuestionAnswering"}),
        ("a film", {"labels": ["score"], "problem_type": "regression"}),
        ("a film", {"problem_type": "multi_label_classification"}),
    ):
        one = subject(given, **more)
        found = look(one)
        assert found.layers[-1]["answer"] == found.answer and len(found.layers) == 4
        assert found.layers[-1]["target"] == pytest.approx(found.explained.value, abs=1e-4)
        assert len(found.attention) == 3 and found.attention[0].sum(axis=-1) == pytest.approx(1, abs=1e-5)
        assert set(found.not_shown) <= {"neighbours", "occlusion"}


def test_networks_without_layers_say_so(subject):
    found = look(subject(model=tiny.model("cnn")))
    assert "no layers" in found.not_shown["attention"] and "no layers" in found.not_shown["layers"]
    assert found.explained.gradients and found.explained.occlusion and not found.layers


@pytest.fixture
def masked(tmp_path):
    tiny.model("bert", head="MaskedLM").save(tmp_path)
    return tmp_path


def test_masked_language_models_fill_and_predict_at_each_layer(masked):
    with log.silenced():
        filled = look_at(masked, "a ___ film was good", head="language_model")
        plain = look_at(masked, "a good film", head="language_model")
    assert filled.kind == "fill" and len(filled.masks[0]) == 5
    assert filled.layers[-1]["confidence"] == pytest.approx(filled.masks[0][0]["probability"], abs=1e-5)
    assert filled.explained.occlusion["words"][1] is None and filled.explained.gradients["words"][1] == 0
    assert plain.kind == "tokens" and "write ___" in plain.not_shown["occlusion"]
    assert len(plain.layers[-1]["tokens"]) == len(plain.tokens)


def test_causal_language_models_predict_the_next_token(subject):
    answer = Likelihood(scoring="causal").to_json()
    model = tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True)
    found = look(subject("a good film", model=model))
    assert found.kind == "next" and found.layers[-1]["answer"] == found.answer
    assert all(np.triu(layer, 1).max() == 0 for layer in found.attention)
    assert found.explained.gradients and found.explained.occlusion["words"] != [0, 0, 0]


def test_answers_of_a_layer_are_decoded_as_the_models(subject):
    one = subject()
    assert predicted(one, one.logits)["answer"] == str(one.predictor.predict([one.given])[0])
