"""Pairs of segments: cut inside documents, put together with token types, and losses as BERT's and ALBERT's pretraining heads give."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.forward import NO_LABEL, Batch, forward
from niwaki.models.record import FINAL
from niwaki.objectives._factory import make_objective
from niwaki.objectives._masking import Vocabulary
from niwaki.objectives._segment_pairs import cut_place, sentence_ends
from niwaki.tasks.language_modeling import LanguageModeling

from .predicting import generator, prepared

PAIRS = ("next_sentence", "sentence_order")


def documents(model, count=6):
    """A batch of sequences, each of another document."""
    batch = tiny.batch(model, count)
    return replace(batch, targets=torch.arange(count))


def paired(name, family="bert", seed=3, **settings):
    model, objective = prepared({"use": name, **settings}, family)
    before = documents(model)
    return model, objective, before, objective.batch(before, generator(seed))


@pytest.mark.parametrize(
    "family, name, kind",
    [("bert", "next_sentence", "BertForPreTraining"), ("albert", "sentence_order", "AlbertForPreTraining")],
)
@torch.no_grad()
def test_loss_equals_transformers_pretraining_heads(family, name, kind):
    import transformers

    model, objective, _, after = paired(name, family)
    config, head = model.network.config, objective.helpers
    config.num_labels = 2
    reference = getattr(transformers, kind)(config).eval()
    reference.load_state_dict(model.network.state_dict(), strict=False)
    trunk = getattr(reference, family)
    (trunk.pooler if family == "albert" else trunk.pooler.dense).load_state_dict(head.pooler.state_dict())
    pairs = reference.sop_classifier.classifier if family == "albert" else reference.cls.seq_relationship
    pairs.load_state_dict(head.classifier.state_dict())
    labels = torch.where(after.predicted, after.targets, NO_LABEL)
    own = {"sentence_order_label" if family == "albert" else "next_sentence_label": after.notes["pairs"]}
    wanted = reference(**after.inputs, labels=labels, **own).loss
    outputs = forward(model.anatomy, after, frozenset({FINAL}))
    torch.testing.assert_close(objective.loss(outputs, after), wanted, atol=1e-5, rtol=0)
    assert set(after.notes["pairs"].tolist()) == {0, 1}


@pytest.mark.parametrize("name", PAIRS)
def test_rows_are_pairs_with_special_tokens_and_types(name):
    model, _, before, after = paired(name, masked=0.0, random=0.0)
    cls, sep = model.tokenizer.cls_token_id, model.tokenizer.sep_token_id
    for row, length in enumerate(after.mask.sum(dim=1).tolist()):
        ids, types = after.inputs["input_ids"][row, :length].tolist(), after.inputs["token_type_ids"][row].tolist()
        assert ids[0] == cls and ids[-1] == sep and ids.count(sep) == 2 and cls not in ids[1:]
        middle = ids.index(sep)
        assert types == [0] * (middle + 1) + [1] * (length - middle - 1) + [0] * (len(types) - length)
        content = before.inputs["input_ids"][row, 1 : int(before.mask[row].sum()) - 1].tolist()
        first, second = ids[1:middle], ids[middle + 1 : -1]
        label = int(after.notes["pairs"][row])
        if name == "sentence_order":
            assert (second + first if label else first + second) == content
        else:
            assert content[: len(first)] == first and (label == 1 or first + second == content)
    assert not after.predicted[after.inputs["input_ids"] == sep].any()


@pytest.mark.parametrize("name", PAIRS)
def test_longest_pairs_have_the_length_of_the_setting(name, tmp_path):
    """Sequences are one token shorter, because a second special token is put between the segments."""
    (tmp_path / "a.txt").write_text("\n\n".join(" ".join(["film plot ."] * (3 + number)) for number in range(40)))
    model = tiny.model("bert", layers=1, head="MaskedLM", labels=[])
    task = LanguageModeling(
        path=str(tmp_path / "a.txt"), max_tokens=16, validation=0.1, test=0.1, cache=str(tmp_path / "cache")
    )
    objective = make_objective(name, task)
    objective.prepare(model)
    rows = task.splits()["train"]
    features = objective.features(rows, model.tokenizer.backend_tokenizer, 64)
    assert features.lengths.max() == 15
    assert len(set(features.targets.tolist())) == rows.num_rows < len(features)


def test_a_segment_begins_behind_a_sentence_or_at_a_word():
    tokenizer = tiny.tokenizer()
    vocabulary = Vocabulary.of(tiny.model("bert", layers=1, head="MaskedLM", labels=[]))
    ends = sentence_ends(tokenizer.backend_tokenizer, len(vocabulary.special))
    draw = np.random.default_rng(0)

    def places(text):
        ids = np.array(tokenizer(text, add_special_tokens=False)["input_ids"])
        return {cut_place(ids, vocabulary, ends, draw) for _ in range(60)}

    assert places("good film . dull plot . end") == {3, 6}
    assert places("filmly was dully") == {2, 3}
    assert places("filmlyly") == {1, 2}
    assert places("film") == {1}


def test_pairs_follow_from_the_generator():
    rows = [paired("next_sentence", seed=seed)[3] for seed in (1, 1, 2)]
    assert torch.equal(rows[0].inputs["input_ids"], rows[1].inputs["input_ids"])
    assert rows[0].inputs["input_ids"].shape != rows[2].inputs["input_ids"].shape or not torch.equal(
        rows[0].inputs["input_ids"], rows[2].inputs["input_ids"]
    )


def test_the_second_head_learns_the_order():
    """The second sentence of every text has other words than the first one."""
    model, objective = prepared("sentence_order")
    halves = [model.tokenizer.convert_tokens_to_ids(words) for words in (tiny.GOOD, tiny.BAD)]
    cls, sep, stop = model.tokenizer.convert_tokens_to_ids(["[CLS]", "[SEP]", "."])
    draw, losses = np.random.default_rng(0), []
    optimizer = torch.optim.Adam([*model.network.parameters(), *objective.helpers.parameters()], lr=3e-3)
    for step in range(80):
        rows = [[cls, *draw.choice(halves[0], 5), stop, *draw.choice(halves[1], 5), sep] for _ in range(16)]
        ids = torch.tensor(np.array(rows))
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "token_type_ids": torch.zeros_like(ids)}
        batch = objective.batch(Batch(inputs, torch.arange(16), torch.arange(16)), generator(step))
        outputs = forward(model.anatomy, batch, frozenset({FINAL}))
        loss = objective.loss(outputs, batch)
        losses.append((loss - objective.token_loss(outputs, batch)).item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert np.mean(losses[:3]) > 0.5 and np.mean(losses[-5:]) < 0.2  # chance is 0.69
