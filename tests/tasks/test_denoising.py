"""Texts to be reconstructed: their own tokens are the targets, and models keep their special tokens."""

import math

import numpy as np
import pyarrow as pa
import pytest

import stock
from niwaki.answers.reconstruction import Reconstruction
from niwaki.tasks.denoising import Denoising
from objectives.noisy import prepared

from .rows import TEXTS, TOKENIZER


def task(folder):
    (folder / "a.txt").write_text("\n\n".join(TEXTS), encoding="utf-8")
    return Denoising(path=str(folder / "a.txt"), validation=0.1, test=0.1, cache=str(folder / "tokens"))


def test_the_targets_of_a_sequence_are_its_own_tokens(tmp_path):
    given = task(tmp_path)
    found = given.features(given.splits()["train"], TOKENIZER, 12)
    assert found.targets is found.rows.ids and len(found) > 20
    assert np.array_equal(found.lengths, found.rows.ids.lengths) and found.lengths.max() <= 12


def test_scores_are_perplexities_of_what_is_generated():
    scorer = Denoising().scorer
    stats = scorer.example_stats([[[math.log(0.5), 1]], [[math.log(0.125), 1]]], pa.table({"text": ["a b", "c"]}))
    assert scorer.scores(stats)["perplexity"] == pytest.approx(4) and "same noise" in scorer.note()


def test_an_encoder_is_given_a_decoder_later(bert_folder):
    given = Denoising()
    given.set_start_model(bert_folder)
    assert given.answer_type == Reconstruction() and given.head.architecture == "ConditionalGeneration"
    assert given.head.labels == ["text"]


def test_special_tokens_are_those_of_the_start_model(tmp_path):
    given = Denoising()
    given.set_start_model(stock.folder("bart", tmp_path / "bart"))
    assert (given.answer_type.start, given.answer_type.end) == (2, 2)
    given.set_start_model(stock.folder("t5", tmp_path / "t5"))
    assert (given.answer_type.start, given.answer_type.end) == (0, 1)


def test_a_model_is_scored_as_it_was_trained(tmp_path):
    model, _ = prepared({"use": "text_denoising", "noise": "delete", "rate": 0.2}, "bart")
    model.save(tmp_path)
    given = Denoising()
    _ = given.head
    given.set_start_model(tmp_path)
    assert given.answer_type == Reconstruction(noise="delete", rate=0.2, start=2, end=2)
    assert given.head.answer["noise"] == "delete"
