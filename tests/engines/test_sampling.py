"""Continuations: greedy ones equal transformers' generate; seeds, limits, stop texts and parts."""

import pytest
import torch
from transformers import BertLMHeadModel

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor

PROMPTS = ["the film was", "a", "it is very good and the plot"]
TOKENIZER = tiny.tokenizer()


@pytest.fixture(scope="module")
def causal():
    answer = Likelihood(scoring="causal").to_json()
    return tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True)


@pytest.fixture(scope="module")
def folder(causal, tmp_path_factory):
    return tiny.with_graphs(causal, tmp_path_factory.mktemp("causal") / "model")


@pytest.mark.parametrize("engine", ["onnx", "torch"])
@torch.no_grad()
def test_greedy_texts_are_those_of_generate(causal, folder, engine):
    reference = BertLMHeadModel(causal.network.config).eval()
    reference.load_state_dict(causal.network.state_dict(), strict=False)
    special = [one for one in TOKENIZER.all_special_ids if one != TOKENIZER.sep_token_id]
    found = Predictor(folder, engine).sample(PROMPTS, temperature=0, max_new_tokens=12)
    for prompt, sampled in zip(PROMPTS, found, strict=True):
        ids = torch.tensor([TOKENIZER(prompt)["input_ids"][:-1]])
        wanted = reference.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=12,
            suppress_tokens=special,
            eos_token_id=TOKENIZER.sep_token_id,
            pad_token_id=TOKENIZER.pad_token_id,
        )[0]
        assert sampled.text == TOKENIZER.backend_tokenizer.decode(wanted.tolist())
        assert sampled.tokens == len(wanted) - ids.shape[1]


def test_a_continuation_depends_on_the_seed_and_not_on_the_batch(folder):
    model = Predictor(folder)
    alone = model.sample(PROMPTS[0], max_new_tokens=8)
    assert model.sample(PROMPTS, max_new_tokens=8)[0].text == alone[0].text
    assert model.sample(PROMPTS[0], max_new_tokens=8, seed=1)[0].text != alone[0].text
    same = model.sample([PROMPTS[0]] * 2, max_new_tokens=8)
    assert same[0].text != same[1].text


def test_log_likelihood_is_that_of_the_model(folder):
    model = Predictor(folder)
    (found,) = model.sample("the film was", max_new_tokens=6, temperature=2.0, seed=3)
    whole, prompt = model.predict([found.text, "the film was"])
    if whole.tokens == prompt.tokens + found.tokens:  # the text is tokenized again as it was sampled
        assert found.log_likelihood == pytest.approx(whole.log_likelihood - prompt.log_likelihood, abs=1e-3)
    assert found.log_likelihood < 0


def test_texts_end_at_the_limit_of_the_model_and_at_stop_texts(folder):
    model = Predictor(folder, max_tokens=10)
    (found,) = model.sample("the film was", max_new_tokens=100, temperature=0)
    assert (found.finished, found.tokens) in {("length", 6), ("end", found.tokens)}
    stop = found.continuation.split()[-1]
    (cut,) = model.sample("the film was", max_new_tokens=100, temperature=0, stop=[stop, "never"])
    assert cut.finished == "stop" and stop not in cut.continuation and found.text.startswith(cut.text)
    with pytest.raises(InputError, match=r"prompts\.0 has 11 tokens, and the model reads 10"):
        model.sample("the the the the the the the the the the")


def test_the_end_token_ends_a_text(folder, monkeypatch):
    model = Predictor(folder)
    sampler = model._sampler({})
    logits = torch.zeros(len(TOKENIZER)).numpy()
    logits[TOKENIZER.sep_token_id] = 50
    monkeypatch.setattr(sampler, "_next_logits", lambda texts, reader: [logits] * len(texts))
    (text,) = next(sampler.steps(["the film"]))
    assert text.finished == "end" and text.result().continuation == ""


@pytest.mark.parametrize("how", [{}, {"stop": ["dull", "m"]}, {"temperature": 0}], ids=str)
def test_parts_are_the_continuation(folder, how):
    model = Predictor(folder)
    parts = [*model.stream("the film", max_new_tokens=9, seed=4, **how)]
    assert "".join(parts) == model.sample("the film", max_new_tokens=9, seed=4, **how)[0].continuation
    assert len(parts) > 1 or how.get("stop")


def test_a_text_can_begin_with_nothing(folder):
    assert Predictor(folder).sample("", max_new_tokens=3)[0].tokens <= 3


def test_masked_models_do_not_continue_texts(tmp_path):
    answer = Likelihood(mask_token_id=TOKENIZER.mask_token_id).to_json()
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[], niwaki_answer=answer)
    with pytest.raises(InputError, match="does not continue texts; use `niwaki fill`"):
        Predictor(tiny.with_graphs(model, tmp_path / "model")).sample("a film")
