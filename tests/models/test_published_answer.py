"""Seq2seq models as published: search settings, prediction and saving."""

import json
import shutil

import pytest

import spm
import stock
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.models.config_rules import read
from niwaki.models.model import load_folder
from niwaki.models.published_answer import with_published_answer

WORDS = [text for text, _, _ in spm.UNIGRAM_TOKENS]


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A Marian as on the hub: two SentencePiece models, a table of ids, and settings of the search."""
    folder = stock.folder("marian", tmp_path_factory.mktemp("marian"), words=WORDS)
    for name in ("tokenizer.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    table = {text: number for number, text in enumerate(["</s>", "<unk>", *WORDS, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(table))
    (folder / "tokenizer_config.json").write_text("{}")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(spm.model())
    settings = {"num_beams": 3, "max_length": 12, "length_penalty": 0.5, "renormalize_logits": True}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    return folder


def test_the_search_is_that_of_the_file(published):
    answer = with_published_answer(published, read(published))["niwaki_answer"]
    assert (answer["beam"], answer["length_penalty"], answer["max_new_tokens"]) == (3, 0.5, 12)
    assert answer["renormalize"] and answer["end"] == 0 and answer["suppress_tokens"] == [len(WORDS) + 2]


def test_it_predicts_and_saves_as_it_is(published, tmp_path):
    texts = ["the film was good", "a"]
    before = [one.text for one in Predictor(published, "torch").predict(texts)]
    assert all(isinstance(text, str) for text in before)
    load_folder(published).save(tmp_path)
    assert (tmp_path / "target.json").is_file() and (tmp_path / "tokenizer.json").is_file()
    assert [one.text for one in Predictor(tmp_path, "torch").predict(texts)] == before


def test_a_forced_first_token_is_generated(published, tmp_path):
    """As of BART for summaries, and of the language of mBART-50."""
    folder = shutil.copytree(published, tmp_path / "copy")
    (folder / "generation_config.json").write_text(json.dumps({"forced_bos_token_id": 9, "max_length": 6}))
    found = Predictor(folder, "torch")
    assert found.logits(found.tokenize(["the film"]))[0, 1] == 9
    (folder / "generation_config.json").write_text(json.dumps({"forced_bos_token_id": 10**6, "max_length": 6}))
    with pytest.raises(InputError, match="1000000 is named as a special token"):
        Predictor(folder, "torch")


def test_other_models_are_left_as_they_are(bert_folder):
    config = read(bert_folder)
    assert with_published_answer(bert_folder, config) is config


@pytest.mark.parametrize(
    "values",
    [
        {"num_beams": "x"},
        {"num_beams": 2.5},
        {"max_length": [1]},
        {"length_penalty": "1"},
        {"forced_bos_token_id": "1"},
    ],
)
def test_settings_that_are_no_numbers_are_rejected(published, values, tmp_path):
    folder = shutil.copytree(published, tmp_path / "copy")
    (folder / "generation_config.json").write_text(json.dumps(values))
    with pytest.raises(InputError, match=r"must be (numbers|the id of one token)"):
        Predictor(folder, "torch")
