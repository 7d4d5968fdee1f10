"""The frozen encoder: its vectors are those of transformers, and training leaves it unchanged."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

import tiny
from niwaki.evaluate.baselines._dense import Dense
from niwaki.evaluate.baselines._linear import LinearModel
from niwaki.evaluate.baselines.frozen import Encoder, Frozen
from niwaki.models.model import load_folder


def own_states(folder: Path, **given) -> torch.Tensor:
    """(tokens, width): what transformers itself gives for one sequence."""
    encoded = AutoTokenizer.from_pretrained(folder)(**given, return_tensors="pt", truncation=True, max_length=48)
    with torch.no_grad():
        return AutoModel.from_pretrained(folder).eval()(**encoded).last_hidden_state[0], encoded


def test_text_vectors_are_the_mean_of_transformers_hidden_states(tasks_by_kind, bert_folder):
    texts = [text for text, _ in tiny.sentences(12)]
    found = Encoder(Frozen(tasks_by_kind["label"], bert_folder), "fp32").texts([*texts, texts[0]])
    expected = [own_states(bert_folder, text=text)[0].mean(dim=0).numpy() for text in [*texts, texts[0]]]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_word_vector_is_the_hidden_state_of_its_first_token(tasks_by_kind, bert_folder):
    sentences = [["lovely", "films", "and", "odd", "ends"], ["dull"]]
    found = Encoder(Frozen(tasks_by_kind["tags"], bert_folder), "fp32").words(sentences)
    expected = []
    for words in sentences:
        states, encoded = own_states(bert_folder, text=words, is_split_into_words=True)
        expected += [states[encoded.word_ids().index(number)].numpy() for number in range(len(words))]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_frozen_encoder_is_not_changed(tasks_by_kind, bert_folder):
    before = load_folder(bert_folder, tasks_by_kind["label"].head).network.state_dict()
    encoder = Encoder(Frozen(tasks_by_kind["label"], bert_folder))
    LinearModel(tasks_by_kind["label"], tasks_by_kind["label"].splits()["train"], [Dense(encoder.texts)])
    body = encoder.model.anatomy.family.body
    after = encoder.model.network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if name.startswith(body))
