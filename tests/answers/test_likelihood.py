"""Log-likelihoods of texts, worked by hand from logits; and the same from every engine as from transformers."""

import math

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers.likelihood import Likelihood, log_probabilities
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor

TOKENIZER = tiny.tokenizer()
MASK = TOKENIZER.mask_token_id
BACKEND = TOKENIZER.backend_tokenizer


def ids_of(text):
    return TOKENIZER(text)["input_ids"]


def test_log_probabilities_are_those_of_a_softmax():
    logits = np.log(np.array([[1.0, 2.0, 5.0], [3.0, 3.0, 6.0]], dtype=np.float32)) + 7
    np.testing.assert_allclose(np.exp(log_probabilities(logits, np.array([2, 0]))), [5 / 8, 1 / 4], rtol=1e-6)


def test_every_token_is_masked_alone_and_special_tokens_are_not_scored():
    rows = Likelihood(mask_token_id=MASK).encode(["good film"], BACKEND, 16)
    cls, good, film, sep = ids_of("good film")
    assert [rows.ids[number].tolist() for number in range(2)] == [[cls, MASK, film, sep], [cls, good, MASK, sep]]
    assert [(note.places, note.targets) for note in rows.metadata] == [([1], [good]), ([2], [film])]


def test_passes_mask_every_so_manieth_token_and_each_token_once():
    rows = Likelihood(mask_token_id=MASK, passes=2).encode(["the plot was very dull"], BACKEND, 16)
    assert [note.places for note in rows.metadata] == [[1, 3, 5], [2, 4]]
    assert sorted(token for note in rows.metadata for token in note.targets) == sorted(
        ids_of("the plot was very dull")[1:-1]
    )


def test_tokens_of_texts_that_are_compared_are_masked_alone():
    rows = Likelihood(mask_token_id=MASK, passes=1).encode([("good film", "dull plot")], BACKEND, 16)
    assert [(note.text, note.places) for note in rows.metadata] == [(0, [1]), (0, [2]), (1, [1]), (1, [2])]


def test_causal_scoring_reads_the_place_before_each_token():
    rows = Likelihood(scoring="causal").encode(["good film"], BACKEND, 16)
    assert rows.ids[0].tolist() == ids_of("good film")
    assert (rows.metadata[0].places, rows.metadata[0].targets) == ([0, 1], ids_of("good film")[1:-1])


def test_masked_next_scoring_masks_a_token_and_reads_the_place_before():
    rows = Likelihood(scoring="masked_next", mask_token_id=MASK).encode(["good film"], BACKEND, 16)
    cls, good, film, sep = ids_of("good film")
    assert rows.ids[1].tolist() == [cls, good, MASK, sep]
    assert (rows.metadata[1].places, rows.metadata[1].targets) == ([1], [film])


def test_values_are_sums_of_log_probabilities_by_text():
    kind, inputs = Likelihood(scoring="causal"), ["good film", ("dull", "a plot")]
    rows = kind.encode(inputs, BACKEND, 16)
    vocabulary, tokens = len(TOKENIZER), int(rows.ids.lengths.sum())
    logits = np.random.default_rng(0).normal(size=(tokens, vocabulary)).astype(np.float32)
    reduced = kind.reduce(logits, rows, np.arange(3))
    probabilities = torch.from_numpy(logits).double().softmax(-1).numpy()
    texts = ["good film", "dull", "a plot"]
    starts, wanted = rows.ids.starts, []
    for start, text in zip(starts, texts, strict=False):
        inner = ids_of(text)[1:-1]
        wanted.append(sum(math.log(probabilities[start + at, token]) for at, token in enumerate(inner)))
    assert reduced[:, 0] == pytest.approx(wanted, rel=1e-5)
    assert np.array_equal(kind.reduce(logits[starts[1] :], rows, np.array([1, 2])), reduced[1:])
    (one,), pair = kind.values(reduced, rows, inputs, [])
    assert one == [pytest.approx(wanted[0], rel=1e-5), 2, 9] and [rest for _, *rest in pair] == [[1, 4], [2, 6]]
    first, second = kind.answers(reduced, rows, inputs, [])
    assert first.line() == f"{wanted[0]:.3f}" and second.tokens == [1, 2]


def test_characters_of_a_truncated_text_end_with_its_last_token():
    rows = Likelihood(scoring="causal").encode(["good film with a plot", ""], BACKEND, 4)
    assert [note.end for note in rows.metadata] == [len("good film"), 0]


def test_a_tokenizer_without_mask_token_scores_only_forwards():
    with pytest.raises(InputError, match="only causal scoring"):
        Likelihood().encode(["good"], BACKEND, 8)
    assert len(Likelihood(scoring="causal").encode(["good"], BACKEND, 8).ids) == 1


@pytest.mark.parametrize("scoring", ["masked", "causal", "masked_next"])
@torch.no_grad()
def test_engines_score_texts_as_transformers_does(scoring, tmp_path):
    answer = Likelihood(scoring=scoring, mask_token_id=MASK).to_json()
    model = tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=scoring == "causal")
    folder, text = tiny.deployed(model, tmp_path / "model"), "the plot was very dull"
    ids = torch.tensor([ids_of(text)])
    wanted = 0.0
    for at in range(1, ids.shape[1] - 1):
        given = ids.clone()
        if scoring != "causal":
            given[0, at] = MASK
        logits = model.network(input_ids=given, attention_mask=torch.ones_like(given)).logits[0]
        wanted += logits[at - (scoring != "masked")].log_softmax(-1)[ids[0, at]].item()
    for engine in ("onnx", "torch"):
        predictor = Predictor(folder, engine)
        assert predictor.predict([text, "good"])[0].log_likelihood == pytest.approx(wanted, abs=1e-4)
        assert predictor.predict(text)[0].tokens == 5
    assert Predictor(folder).engine == "onnx"
