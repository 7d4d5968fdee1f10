"""The likelihood of what noise hides: the same text has the same noise, and transformers gives the same numbers."""

import numpy as np
import pytest
import torch
import transformers

import tiny
from niwaki.answers._answer_type import EncodedInputs
from niwaki.answers._beam_search import NO_TOKEN
from niwaki.answers.reconstruction import Reconstruction
from niwaki.core.errors import InputError
from niwaki.core.settings import check
from niwaki.data.ragged import Ragged
from niwaki.engines.predictor import Predictor
from objectives.noisy import CLASSES, TEXTS, prepared


@pytest.mark.parametrize(
    "engine, family, objective",
    [
        ("onnx", "t5", "span_corruption"),
        ("torch", "bart", "text_denoising"),
        pytest.param("onnx", "bart", "text_denoising", marks=pytest.mark.slow),
        pytest.param("torch", "t5", "span_corruption", marks=pytest.mark.slow),
    ],
)
def test_likelihoods_equal_those_of_transformers(engine, family, objective, tmp_path):
    model, _ = prepared(objective, family)
    predictor = Predictor(tiny.with_graphs(model, tmp_path), engine)
    network = getattr(transformers, CLASSES[family]).from_pretrained(tmp_path).eval()
    rows = predictor.tokenize(TEXTS[:3])
    for number, found in enumerate(predictor.predict(TEXTS[:3])):
        ids, labels = (torch.from_numpy(rows.arrays[name][number].astype(np.int64)) for name in ("input_ids", "labels"))
        with torch.no_grad():
            loss = network(input_ids=ids[None], labels=labels[None]).loss.item()
        assert found.tokens == len(labels)
        assert found.log_likelihood == pytest.approx(-loss * len(labels), rel=1e-4)


@pytest.mark.parametrize("noise", ["spans", "combined"])
def test_noise_depends_on_the_text_and_not_on_its_neighbours(noise):
    tokenizer = prepared()[0].tokenizer.backend_tokenizer
    kind = Reconstruction(noise=noise)
    whole, alone = kind.encode(TEXTS[:20], tokenizer, 40), kind.encode([TEXTS[7]], tokenizer, 40)
    for name in ("input_ids", "labels"):
        assert whole.arrays[name][7].tolist() == alone.arrays[name][0].tolist()
    assert len({tuple(whole.ids[number].tolist()) for number in range(20)}) == 20


def test_values_by_hand():
    rows = EncodedInputs({"labels": Ragged.of([[1, 2], [3]])}, np.arange(2), [])
    kind, logits = Reconstruction(), np.array([[-3.5], [-1.0]])
    assert kind.values(logits, rows, ["a", "b"], []) == [[[-3.5, 2]], [[-1.0, 1]]]
    first, _ = kind.answers(logits, rows, ["a", "b"], [])
    assert (first.log_likelihood, first.tokens, str(first)) == (-3.5, 2, "-3.500")


def test_generated_tokens_are_padded_apart_from_what_is_read():
    arrays = {"input_ids": Ragged.of([[1], [2, 3]]), "labels": Ragged.of([[4, 5, 6], [7]])}
    found = EncodedInputs(arrays, np.arange(2), []).padded(np.arange(2), 9)
    assert found["input_ids"].tolist() == [[1, 9], [2, 3]] and found["attention_mask"].tolist() == [[1, 0], [1, 1]]
    assert found["labels"].tolist() == [[4, 5, 6], [7, NO_TOKEN, NO_TOKEN]]


def test_equal_answers_are_equal_up_to_a_hundredth_for_each_token():
    kind = Reconstruction()
    assert kind.same([[-3.0, 10]], [[-3.09, 10]]) and not kind.same([[-3.0, 10]], [[-3.2, 10]])
    assert kind.same_outputs_as(Reconstruction()) and not kind.same_outputs_as(Reconstruction(noise="infill"))


def test_unknown_noise_is_rejected():
    with pytest.raises(InputError, match=r"niwaki_answer\.noise: is not one of spans, tokens, drop"):
        check(Reconstruction, {"noise": "hum"}, "niwaki_answer")
