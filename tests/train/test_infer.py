"""Logits of a feed come back in its order, per text or per token; a teacher answers the same rows in its own tokens."""

import numpy as np
import pytest
import torch

import tiny
from contracts import made
from niwaki.answers.label import Label
from niwaki.core.settings import check
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import HIDDEN, forward
from niwaki.models.tokens import trimmed, used_pieces
from niwaki.tasks import TASKS
from niwaki.tasks._task import Features, Task
from niwaki.train.feed import Feed, encode_for
from niwaki.train.infer import logits_of
from niwaki.train.precision import has_bf16, resolve
from niwaki.train.teacher import Teacher

CPU = torch.device("cpu")


def feed_of(model, count=40):
    rows = tiny.sentences(count)
    targets = np.array([tiny.LABELS.index(label) for _, label in rows])
    encoded = Label().encode([text for text, _ in rows], model.tokenizer.backend_tokenizer, 60)
    return Feed(Features(encoded, targets), model, CPU)


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


@pytest.fixture(params=["tagging", "answering", "choice"])
def task(request, tmp_path):
    """Tasks whose rows are not one sequence with one answer."""
    path = made.write(request.param, tmp_path, count=40)
    return check(TASKS.load(request.param, Task), {"path": str(path), **made.SHORT.get(request.param, {})})


def model_for(task, seed=0):
    return tiny.model("bert", layers=2, seed=seed, labels=task.labels, head=task.head.architecture)


def test_a_table_of_tokens_or_of_groups_is_what_the_teacher_says_beside_the_student(task, tmp_path):
    """In every real place of the batch; whatever a table has in padding must not count, and is held so by the losses."""
    model = model_for(task)
    feed = Feed(encode_for(model, task, "train"), model, CPU)
    assert len(feed.features) > 8 and (task.answer != "span" or len(feed.features) > len(task.splits()["train"]))
    kept = Teacher(model, feed, frozenset(), "fp32", tmp_path / "kept")
    beside = Teacher(model, feed, frozenset({HIDDEN}), "fp32", tmp_path / "none")
    student = model_for(task, seed=1)
    for rows in ([3, 1, 7], [0], list(range(len(feed.features)))):
        batch = feed.batch(rows)
        table, live = kept(batch).logits, beside(batch).logits
        assert table.shape == live.shape
        real = batch.mask.bool() if task.kind.per_token else slice(None)
        torch.testing.assert_close(table[real], live[real], atol=1e-5, rtol=0)
        own = forward(student.network, student.anatomy, batch).logits
        losses = [task.soft_loss(own, given, batch, 2.0).item() for given in (table, live)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-3) and losses[0] > 0


def test_logits_per_token_come_back_in_order(task):
    model = model_for(task)
    feed = Feed(encode_for(model, task, "train"), model, CPU)
    rows = feed.features.rows
    found = logits_of(model, feed, "fp32")
    with torch.no_grad():
        alone = [tiny_logits(model, feed, sequence) for sequence in range(len(rows.ids))]
    np.testing.assert_allclose(found, np.concatenate(alone), atol=1e-5)
    assert len(found) == (len(rows.ids.values) if task.kind.per_token else len(rows.ids))


def tiny_logits(model, feed, sequence):
    out = model.network(**feed.inputs(np.array([sequence])))
    if model.anatomy.head == "QuestionAnswering":
        return torch.stack([out.start_logits, out.end_logits], -1)[0].numpy()
    return (out.logits[0] if model.anatomy.per_token else out.logits).numpy()


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
