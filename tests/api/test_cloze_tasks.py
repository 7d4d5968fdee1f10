import pytest
import torch

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.api.cloze_tasks import cloze, scores_of
from niwaki.api.loading import load_language_model
from niwaki.core import log
from niwaki.core.errors import UsageError
from niwaki.evaluate.cloze._cloze import Item

ITEM = Item("the film was ___ .", ("good", "bad", "unlovely"), 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("lm")
    tiny.model("bert", head="MaskedLM").save(path)
    return path


@torch.no_grad()
def test_choices_are_compared_at_the_mask(folder):
    """The logits of transformers; the last choice has three tokens."""
    model = tiny.model("bert", head="MaskedLM")
    ids = model.tokenizer("the film was [MASK] .", return_tensors="pt")
    row = model.network(**ids).logits[0, ids["input_ids"][0].tolist().index(model.tokenizer.mask_token_id)]
    wanted = [float(row[model.tokenizer.convert_tokens_to_ids(word)]) for word in ITEM.choices[:2]]
    with log.silenced():
        found = scores_of(folder)([ITEM] * 70)
    assert found.shape == (70, 3) and found[69, :2].tolist() == pytest.approx(wanted, abs=1e-4)
    assert found[0, 2] == -float("inf")


def test_causal_models_score_whole_sentences(tmp_path):
    answer = Likelihood(scoring="causal").to_json()
    tiny.model("bert", head="MaskedLM", labels=[], niwaki_answer=answer, is_decoder=True).save(tmp_path)
    with log.silenced():
        predictor = load_language_model(tmp_path)
        found = scores_of(tmp_path)([ITEM])
    alone = predictor.predict([ITEM.text.replace("___", choice) for choice in ITEM.choices])
    assert found[0].tolist() == [one.log_likelihood for one in alone]


def test_one_call(folder):
    with log.silenced(), pytest.raises(UsageError, match="no task 'age'"):
        cloze(folder, tasks=["age"])
    with pytest.raises(UsageError, match="items must be"):
        cloze(folder, items=1)
