"""Logits of a feed come back in its order; a teacher answers the same rows in its own tokens."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import HIDDEN
from niwaki.models.tokens import trimmed, used_pieces
from niwaki.tasks._task import encode
from niwaki.train.feed import Feed
from niwaki.train.infer import logits_of
from niwaki.train.precision import has_bf16, resolve
from niwaki.train.teacher import Teacher

CPU = torch.device("cpu")


def feed_of(model, count=40):
    rows = tiny.sentences(count)
    targets = np.array([tiny.LABELS.index(label) for _, label in rows])
    return Feed(encode([(text,) for text, _ in rows], targets, model.tokenizer.backend_tokenizer, 60), model, CPU)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_rows_come_back_in_order(family):
    model = tiny.model(family)
    model.network.train()
    feed = feed_of(model)
    found = logits_of(model, feed, "fp32")
    assert model.network.training
    alone = torch.cat([tiny.logits(model, feed.batch([row])) for row in range(40)])
    np.testing.assert_allclose(found, alone.numpy(), atol=1e-5)
    assert found.dtype == np.float32


def test_a_teacher_answers_from_its_table_or_beside_the_student_alike(tmp_path):
    model = tiny.model("bert")
    feed = feed_of(model)
    batch = feed.batch([3, 1, 7])
    table = Teacher(model, feed, frozenset(), "fp32", tmp_path / "kept")(batch).logits
    beside = Teacher(model, feed, frozenset({HIDDEN}), "fp32", tmp_path / "none")
    torch.testing.assert_close(table, beside(batch).logits, atol=1e-5, rtol=0)
    assert beside(batch) is beside(batch) and len(beside(batch).hidden) == 4
    assert not any(parameter.requires_grad for parameter in model.network.parameters())


def test_a_teachers_table_is_kept_and_made_again_when_damaged(tmp_path, monkeypatch):
    model = tiny.model("bert")
    feed = feed_of(model)
    first = Teacher(model, feed, frozenset(), "fp32", tmp_path / "kept").table.clone()
    path = tmp_path / "kept" / "logits.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert torch.equal(Teacher(model, feed, frozenset(), "fp32", tmp_path / "kept").table, first)
    monkeypatch.setattr("niwaki.train.teacher.logits_of", None)  # not asked again
    assert torch.equal(Teacher(model, feed, frozenset(), "fp32", tmp_path / "kept").table, first)


def test_a_teacher_reads_its_own_tokens(tmp_path):
    whole, small = tiny.model("bert"), tiny.model("bert")
    keep = used_pieces(small.tokenizer.backend_tokenizer, [], 1)
    small.tokenizer = trimmed(small.tokenizer, keep)
    small.operate(Vocabulary(keep=keep))
    batch = feed_of(small).batch([0, 5])
    teacher = Teacher(whole, feed_of(whole), frozenset({HIDDEN}), "fp32", tmp_path / "none")
    torch.testing.assert_close(teacher(batch).logits, tiny.logits(whole, feed_of(whole).batch([0, 5])))


def test_precision_is_checked_not_assumed(monkeypatch):
    assert resolve("fp32") == "fp32" and resolve("bf16") == "bf16"
    for has in (True, False):
        monkeypatch.setattr("niwaki.train.precision.has_bf16", lambda has=has: has)
        assert resolve("auto") == ("bf16" if has else "fp32")
    assert isinstance(has_bf16(), bool)
