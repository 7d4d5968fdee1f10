"""What objectives for word vectors share: counts, words that are left out, windows."""

import math

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.models.skeleton import build
from niwaki.objectives._factory import make_objective
from niwaki.objectives._word_vectors import moved_left, near, sampling_rates, token_counts
from niwaki.tasks.classification import Classification
from niwaki.tasks.sentence_embedding import SentenceEmbedding

from .embedding import prepared


def test_tokens_are_counted():
    assert token_counts(Ragged.of([[1, 2], [2, 2, 0]]), 5).tolist() == [1, 1, 3, 0, 0]


def test_frequent_words_are_sampled_less_often():
    """A word of a hundredth of all, at a threshold of 1/10,000: √0.01 + 0.01. Those below the threshold stay."""
    found = sampling_rates(torch.tensor([1e-2, 1e-5, 0.0]), 1e-4)
    torch.testing.assert_close(found, torch.tensor([0.11, 1.0, 1.0]))
    assert sampling_rates(torch.tensor([0.5]), 0).tolist() == [1.0]


def test_words_that_are_left_out_bring_others_closer():
    ids = torch.tensor([[5, 6, 7, 8], [9, 4, 3, 0]])
    stays = torch.tensor([[True, False, True, True], [False, True, False, False]])
    found, mask = moved_left(ids, stays)
    assert found.tolist() == [[5, 7, 8], [4, 0, 0]]
    assert mask.tolist() == [[True, True, True], [True, False, False]]


def test_windows_end_at_their_radius_and_at_padding():
    mask, radius = torch.tensor([[1, 1, 1, 1, 0]]), torch.tensor([[1, 2, 1, 3, 5]])
    assert near(mask, radius)[0].int().tolist() == [
        [0, 1, 0, 0, 0],
        [1, 0, 1, 1, 0],
        [0, 1, 0, 1, 0],
        [1, 1, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]


def test_the_same_generator_draws_the_same_noise_and_special_tokens_are_left_out():
    model, objective, _, batch = prepared({"use": "skip_gram", "subsample": 0.01})
    found = [objective.batch(batch, torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)]
    assert torch.equal(found[0].inputs["input_ids"], found[1].inputs["input_ids"])
    assert torch.equal(found[0].notes["noise"], found[1].notes["noise"])
    assert not torch.equal(found[0].notes["noise"], found[2].notes["noise"])
    words = found[0].inputs["input_ids"][found[0].mask.bool()]
    special = set(model.tokenizer.all_special_ids)
    assert len(words) and not special & set(words.tolist()) and not special & set(found[0].notes["noise"].tolist())


def test_rare_tokens_weigh_more_in_texts():
    model, _, features, _ = prepared("skip_gram")
    weights = model.network.body.embeddings.token_weights.weight[:, 0]
    share = (torch.from_numpy(features.rows.ids.values) == 5).double().mean().item()
    assert weights[5].item() == pytest.approx(math.log(1e-3 / (1e-3 + share)), abs=1e-5)
    model, *_ = prepared({"use": "skip_gram", "weights": False})
    assert not model.network.body.embeddings.token_weights.weight.any()


def test_networks_with_layers_and_other_tasks_are_rejected():
    with pytest.raises(InputError, match="set family = 'averaging'"):
        make_objective("cbow", SentenceEmbedding()).prepare(tiny.model("bert", head="FeatureExtraction", labels=[]))
    with pytest.raises(InputError, match="take task 'sentence_embedding'"):
        make_objective("cbow", Classification()).check()


def test_a_table_of_word_vectors_begins_small():
    network = build(
        {
            "model_type": "averaging",
            "architectures": ["AnyForFeatureExtraction"],
            "vocab_size": 9,
            "embedding_size": 8,
            "niwaki_answer": {"kind": "embedding"},
        }
    )
    table = network.body.embeddings.word_embeddings.weight
    assert 0 < table.abs().max() <= 0.5 / 8 and not network.body.embeddings.token_weights.weight.any()
