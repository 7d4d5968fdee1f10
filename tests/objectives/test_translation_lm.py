"""Translation language modeling: pairs in one sequence by hand, masks in both texts, and the loss that transformers computes."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, forward
from niwaki.objectives._factory import make_objective
from niwaki.objectives.translation_lm import joined
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.train.collator import Collator, encode_rows

from .predicting import generator

NAME = "translation_lm"
ROWS = 40


@pytest.fixture
def task(tmp_path):
    texts, others = ([text for text, _ in tiny.sentences(ROWS, seed)] for seed in (0, 1))
    (tmp_path / "pairs.tsv").write_text("\n".join(["de\ten", *map("\t".join, zip(texts, others, strict=True))]) + "\n")
    return LanguageModeling(
        path=str(tmp_path / "pairs.tsv"),
        column="de",
        second_column="en",
        max_tokens=40,
        validation=0.1,
        test=0.1,
        cache=str(tmp_path / "cache"),
    )


def model_and_rows(task, family="bert", **settings):
    model = tiny.model(family, layers=2, head="MaskedLM", labels=[])
    objective = make_objective({"use": NAME, **settings}, task)
    objective.check()
    objective.prepare(model)
    return model, objective, Collator(encode_rows(model, objective, task.splits()["train"]), model, torch.device("cpu"))


def test_two_texts_become_one_sequence_by_hand():
    ids = torch.tensor([[1, 7, 8, 2], [1, 9, 2, 0], [1, 7, 2, 0], [1, 5, 6, 2]])
    mask = (ids > 0).long()
    found, real, places, types = joined(ids, mask, torch.tensor([False, True]), 1)
    assert (found * real).tolist() == [[1, 7, 8, 2, 9, 2], [1, 5, 6, 2, 7, 2]]
    assert places.tolist() == [[0, 1, 2, 3, 0, 1]] * 2 and types.tolist() == [[0, 0, 0, 0, 1, 1]] * 2
    found, real, places, types = joined(ids[[0, 1, 2, 2]], mask[[0, 1, 2, 2]], torch.tensor([True, False]), 1)
    assert (found * real).tolist() == [[1, 9, 2, 7, 8, 2], [1, 7, 2, 7, 2, 0]]
    assert real.tolist()[1] == [1, 1, 1, 1, 1, 0] and types.tolist()[1] == [0, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("family", ["bert", "electra", "distilbert", "roberta"])
@torch.no_grad()
def test_loss_equals_transformers(task, family):
    model, objective, collator = model_and_rows(task, family)
    after = objective.batch(collator.batch(range(8)), generator(1))
    labels = torch.where(after.predicted, after.targets, NO_LABEL)
    inputs = dict(after.inputs)
    if family == "distilbert":  # its network takes no positions; they are those of its embeddings
        positions = inputs.pop("position_ids")
        inputs["inputs_embeds"] = model.network.distilbert.embeddings(inputs.pop("input_ids"), position_ids=positions)
        logits = torch.stack([_distilbert(model, inputs, row) for row in range(len(labels))])
        wanted = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    else:
        wanted = model.network(**inputs, labels=labels).loss
    torch.testing.assert_close(objective.loss(forward(model.anatomy, after), after), wanted, atol=1e-5, rtol=0)


def _distilbert(model, inputs, row):
    hidden = inputs["inputs_embeds"][row, None]
    bias = torch.where(inputs["attention_mask"][row].bool(), 0.0, torch.finfo(torch.float32).min)[None, None, None]
    hidden = model.network.distilbert.transformer(hidden, attention_mask=bias).last_hidden_state
    network = model.network
    hidden = network.vocab_layer_norm(torch.nn.functional.gelu(network.vocab_transform(hidden)))
    return network.vocab_projector(hidden)[0]


def test_pairs_are_a_text_and_its_translation_in_either_order(task):
    model, objective, collator = model_and_rows(task, masked=0.0, random=0.0)
    rows = task.splits()["train"]
    tokenizer, exchanged = model.tokenizer, 0
    for seed in range(10):
        batch = objective.batch(collator.batch(range(rows.num_rows)), generator(seed))
        for number, row in enumerate(rows.to_pylist()):
            ids = batch.inputs["input_ids"][number, : int(batch.mask[number].sum())].tolist()
            ways = [
                tokenizer(*texts)["input_ids"] for texts in ((row["text"], row["second"]), (row["second"], row["text"]))
            ]
            assert ids in ways
            exchanged += ids == ways[1]
    assert binomtest(exchanged, 10 * rows.num_rows, 0.5).pvalue > 1e-3


def test_tokens_of_both_texts_are_predicted_and_either_is_read_within_the_length(task):
    _, objective, collator = model_and_rows(task, rate=0.3, exchange=False)
    batch = objective.batch(collator.batch(range(20)), generator())
    types = batch.inputs["token_type_ids"]
    shares = [float(batch.predicted[batch.mask.bool() & (types == side)].float().mean()) for side in (0, 1)]
    assert min(shares) > 0.15 and batch.mask.sum(dim=1).max() <= 40
    assert collator.lengths.max() <= 20


def test_a_network_reads_the_translation(task):
    model, objective, collator = model_and_rows(task)
    after = objective.batch(collator.batch(range(4)), generator())
    types = after.inputs["token_type_ids"]
    hidden = replace(after, inputs={**after.inputs, "input_ids": after.inputs["input_ids"].masked_fill(types == 1, 9)})
    first = after.predicted & (types == 0)
    one, two = (forward(model.anatomy, replace(given, predicted=first)).logits for given in (after, hidden))
    assert not torch.allclose(one, two)


def test_other_objectives_read_both_columns_as_texts(task):
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[])
    rows = task.splits()["train"]
    features = task.features(rows, model.tokenizer.backend_tokenizer, 40)
    assert len(features) == 2 * rows.num_rows
    text = model.tokenizer(rows["second"][0].as_py())["input_ids"]
    assert features.rows.ids[1].tolist() == text


def test_scores_of_pairs_are_those_of_both_texts(task):
    row = task.splits()["test"].slice(0, 1)
    words, letters = (sum(map(of, row.to_pylist()[0].values())) for of in (lambda text: len(text.split()), len))
    stats = task.scorer.example_stats([[[-2.0, 3], [-1.0, 4]]], row)
    assert np.array_equal(stats, [[-3.0, 7, words, letters]])
    assert task.inputs(task.splits()["test"])[0] == tuple(task.splits()["test"].to_pylist()[0].values())


def test_a_task_without_pairs_is_rejected(tmp_path):
    with pytest.raises(
        InputError, match=r"'translation_lm' reads pairs of texts; set data.column and data.second_column"
    ):
        make_objective(NAME, LanguageModeling(path="x.txt")).check()
    with pytest.raises(InputError, match=r"data\.column: name the column"):
        LanguageModeling(path="x.txt", second_column="en").read_parts()
