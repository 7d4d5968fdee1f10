"""Tasks of language models: scored as the start model was trained, with the mask token of its tokenizer."""

import json

import pytest

import tiny
from niwaki.answers.likelihood import Likelihood
from niwaki.tasks._language_model_task import likelihood_of, mask_token_id
from niwaki.tasks.blimp import Blimp
from niwaki.tasks.language_modeling import LanguageModeling

MASK = tiny.tokenizer().mask_token_id


@pytest.fixture
def saved(tmp_path):
    def save(**config):
        tiny.model("bert", layers=1, head="MaskedLM", labels=[], **config).save(tmp_path)
        return tmp_path

    return save


@pytest.mark.parametrize("kind", [LanguageModeling, Blimp])
def test_texts_are_scored_as_the_start_model_states_with_the_tasks_own_passes(kind, saved):
    stated = Likelihood(scoring="masked_next", mask_token_id=3, passes=2)
    task = kind()
    before = task.head.answer
    task.set_start_model(saved(niwaki_answer=stated.to_json()))
    assert task.answer_type == stated.model_copy(update={"passes": kind.passes}) and kind.passes != 2
    assert before["scoring"] == "masked" and task.head.answer["scoring"] == "masked_next"


def test_a_model_that_states_nothing_is_scored_by_masking(saved):
    assert likelihood_of(saved()) == Likelihood(scoring="masked", mask_token_id=MASK)


@pytest.mark.parametrize(
    "named, expected", [("[MASK]", MASK), ({"content": "[MASK]"}, MASK), (None, -1), ("<no such token>", -1)]
)
def test_the_mask_token_is_the_one_that_the_settings_name(saved, named, expected):
    folder = saved()
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "mask_token": named}))
    assert mask_token_id(folder) == expected
