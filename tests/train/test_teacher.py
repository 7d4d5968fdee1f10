"""Teachers: what they say alone, in batches, from the disk and anew is the same; what is kept is found again and no more than allowed."""

from pathlib import Path

import numpy as np
import pytest
import torch

import teaching
import tiny
from contracts import task_rows
from niwaki.answers.label import Label
from niwaki.core.settings import check
from niwaki.models.activations import named, numbers
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.features import Features
from niwaki.models.forward import forward
from niwaki.models.record import HIDDEN, SCORES, STATES
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tokenization.trimming import trimmed, used_tokens
from niwaki.train import teacher, teacher_cache
from niwaki.train.collator import Collator, encode_split
from niwaki.train.teacher_cache import TeacherCache, blocks

CPU = torch.device("cpu")
EVERYTHING = (
    named("hidden", [0, 1, 3]) | named("scores", [0, 2]) | frozenset().union(*(named(what, [1]) for what in STATES))
)


def collator_of(model, count=40):
    texts, labels = zip(*tiny.sentences(count), strict=True)
    targets = np.array([tiny.LABELS.index(label) for label in labels])
    return Collator(Features(Label().encode(texts, model.tokenizer.backend_tokenizer, 60), targets), model, CPU)


@pytest.fixture(params=["tagging", "question_answering", "choice", "roles"])
def task(request, tmp_path):
    """Tasks whose rows are not one sequence with one answer."""
    path = task_rows.write(request.param, tmp_path, count=40)
    return check(TASKS.load(request.param, Task), {"path": str(path), **task_rows.SHORT.get(request.param, {})})


def model_for(task, seed=0):
    return tiny.model("bert", layers=2, seed=seed, labels=task.labels, head=task.head.architecture)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_activations_match_those_of_the_training_network(family):
    """transformers' own forward pass with padding against each text alone in ONNX Runtime."""
    model = tiny.model(family)
    collator = collator_of(model)
    batch = collator.batch([3, 1, 7])
    with torch.no_grad():
        own = forward(model.anatomy, batch, frozenset({HIDDEN, SCORES, *STATES}))
    outputs = teaching.teacher(model, collator, EVERYTHING)(batch)
    real = batch.mask.bool()
    torch.testing.assert_close(outputs.logits, own.logits, atol=1e-4, rtol=1e-4)
    for name in EVERYTHING:
        what, depth = name.split(".")
        theirs, ours = getattr(outputs, what)[int(depth)], getattr(own, what)[int(depth)]
        assert theirs.shape == ours.shape
        places = (real[:, None, :, None] & real[:, None, None, :]).expand_as(ours) if what == "scores" else real
        torch.testing.assert_close(theirs[places], ours[places], atol=1e-4, rtol=1e-4)


def test_a_packed_teacher_returns_activations():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    batch = collator_of(model).batch([0, 2])
    outputs = teaching.teacher(model, collator_of(model), named("hidden", [3]))(batch)
    with torch.no_grad():
        own = forward(model.anatomy, batch, frozenset({HIDDEN}))
    real = batch.mask.bool()
    assert (outputs.hidden[3][real] - own.hidden[3][real]).abs().max() < 0.3  # integers differ more than rounding


def test_activation_sizes_are_computed_correctly():
    model = tiny.model("bert")
    collator = collator_of(model)
    rows = collator.features.rows
    alone = teaching.ActivationRunner(model, EVERYTHING, 1)
    for place, outputs in enumerate(alone(rows, (4, 9))):
        length = rows.ids.lengths[[(4, 9)[place]]].astype(np.int64)
        assert {name: part.size for name, part in outputs.items()} == {
            name: int(numbers(model.anatomy, name, length)[0]) for name in outputs
        }
    with pytest.raises(StopIteration):
        next(iter(alone(rows, [])))


def test_cached_and_recomputed_activations_have_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(teacher_cache, "BLOCK", 16)
    model = tiny.model("bert")
    collator = collator_of(model)
    anew, disk = teaching.teacher(model, collator, EVERYTHING), teaching.teacher(model, collator, EVERYTHING, tmp_path)
    for rows in ([3, 1, 39], [0], list(range(40))):
        one, two = anew(collator.batch(rows)), disk(collator.batch(rows))
        assert torch.equal(one.logits, two.logits)
        for name in EVERYTHING:
            what, depth = name.split(".")
            assert torch.equal(getattr(one, what)[int(depth)], getattr(two, what)[int(depth)])


def test_one_batch_is_answered_once():
    model = tiny.model("bert")
    answering = teaching.teacher(model, collator_of(model))
    batch = collator_of(model).batch([0, 1])
    assert answering(batch) is answering(batch)
    assert answering(collator_of(model).batch([2])) is not answering(batch)


def test_answers_for_tokens_and_groups_are_what_the_network_says(task, tmp_path):
    """In every real place of the batch; whatever lies in padding must not count, and is held so by the losses."""
    model = model_for(task)
    collator = Collator(encode_split(model, task, "train"), model, CPU)
    assert len(collator.features) > 8 and (
        task.answer != "span" or len(collator.features) > len(task.splits()["train"])
    )
    answering = teaching.teacher(model, collator, folder=tmp_path / "kept")
    alone = teaching.teacher(model, collator, named("hidden", [1]), tmp_path / "kept")
    student = model_for(task, seed=1)
    for rows in ([3, 1, 7], [0], list(range(len(collator.features)))):
        batch = collator.batch(rows)
        with torch.no_grad():
            live = forward(model.anatomy, batch).logits
        real = batch.mask.bool() if task.answer_type.per_token else slice(None)
        own = forward(student.anatomy, batch).logits
        losses = [task.criterion.soft_loss(own, live, batch, 2.0).item()]
        for one in (answering, alone):
            logits = one(batch).logits
            assert logits.shape == live.shape
            torch.testing.assert_close(logits[real], live[real], atol=1e-5, rtol=0)
            losses.append(task.criterion.soft_loss(own, logits, batch, 2.0).item())
        assert losses == pytest.approx([losses[0]] * 3, rel=1e-3) and losses[0] > 0


def test_a_teacher_reads_its_own_tokens():
    whole, small = tiny.model("bert"), tiny.model("bert")
    keep = used_tokens(small.tokenizer.backend_tokenizer, [], 1)
    small.tokenizer = trimmed(small.tokenizer, keep)
    small.apply_edit(Vocabulary(keep=keep))
    batch = collator_of(small).batch([0, 5])
    logits = teaching.teacher(whole, collator_of(whole))(batch).logits
    torch.testing.assert_close(logits, tiny.logits(whole, collator_of(whole).batch([0, 5])))


def test_several_teachers_speak_with_the_mean_of_their_logits():
    one, two = (tiny.model("bert", seed=seed) for seed in (1, 2))
    batch = collator_of(one).batch([0, 5])
    logits = teacher.ensemble([teaching.teacher(model, collator_of(model)) for model in (one, two)])(batch).logits
    torch.testing.assert_close(logits, (tiny.logits(one, batch) + tiny.logits(two, batch)) / 2)


# ── what is kept ────────────────────────────────────────────────────────────────────────────────────────────────────────


def count_requests(monkeypatch):
    """Counts the blocks that a teacher really computes."""
    counted = []
    plain = teacher.logits_of

    def count(model, collator, precision, chosen):
        counted.append(len(chosen))
        return plain(model, collator, precision, chosen)

    monkeypatch.setattr(teacher, "logits_of", count)
    return counted


def test_cached_outputs_are_found_again_also_with_appended_texts(tmp_path, monkeypatch):
    monkeypatch.setattr(teacher_cache, "BLOCK", 16)
    counted = count_requests(monkeypatch)
    model = tiny.model("bert")
    first = teaching.teacher(model, collator_of(model, 40), folder=tmp_path)(collator_of(model).batch([5])).logits
    assert counted == [16, 16, 8]
    again = teaching.teacher(model, collator_of(model, 40), folder=tmp_path)(collator_of(model).batch([5])).logits
    assert counted == [16, 16, 8] and torch.equal(first, again)
    teaching.teacher(model, collator_of(model, 60), folder=tmp_path)
    assert counted == [16, 16, 8, 16, 12]  # the two whole blocks are there
    teaching.teacher(model, collator_of(model, 40), folder=tmp_path, precision="bf16")
    assert len(counted) == 8  # the precision is part of the key


def test_damaged_and_swapped_blocks_are_reported_and_recomputed(tmp_path, monkeypatch):
    messages: list[str] = []
    monkeypatch.setattr(teacher_cache, "info", messages.append)
    monkeypatch.setattr(teacher_cache, "BLOCK", 16)
    counted = count_requests(monkeypatch)
    model = tiny.model("bert")
    batch = collator_of(model).batch(list(range(40)))
    first = teaching.teacher(model, collator_of(model), folder=tmp_path)(batch).logits
    files = sorted(tmp_path.glob("*/*/numbers.safetensors"))
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-1] + b"!")
    assert torch.equal(teaching.teacher(model, collator_of(model), folder=tmp_path)(batch).logits, first)
    assert "is not what was saved" in messages[0] and len(counted) == 4
    one, two = (path.parent for path in files[1:])
    one.rename(tmp_path / "aside")
    two.rename(one)
    (tmp_path / "aside").rename(two)
    assert torch.equal(teaching.teacher(model, collator_of(model), folder=tmp_path)(batch).logits, first)
    assert (
        all("holds outputs for other texts" in line for line in messages[1:])
        and len(messages) == 3
        and len(counted) == 6
    )


def put(store, key, count):
    return store.put(key, np.full(count, 1.0, np.float32))


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_the_oldest_make_room_and_what_is_in_use_stays(tmp_path):
    import os

    for number, key in enumerate(["aa" * 20, "bb" * 20, "cc" * 20]):
        put(TeacherCache(tmp_path, 1 << 20), key, 1000)
        os.utime(next(tmp_path.glob(f"{key[:2]}/*")), (number, number))
    size = (bytes_in(tmp_path)) // 3
    store = TeacherCache(tmp_path, 3 * size + 100)
    assert store.find("aa" * 20) is not None  # in use now
    assert store.make_room({"dd" * 20: 50}) and bytes_in(tmp_path) == 3 * size
    assert store.make_room({"dd" * 20: size}) and store.find("bb" * 20) is None and store.find("cc" * 20) is not None
    assert not store.make_room({"dd" * 20: 2 * size}) and bytes_in(tmp_path) == 2 * size  # both are in use
    assert not TeacherCache(tmp_path, 0).make_room({"dd" * 20: 1})


def test_what_is_wanted_and_there_does_not_make_room_for_itself(tmp_path):
    for key in ("aa" * 20, "bb" * 20):
        put(TeacherCache(tmp_path, 1 << 20), key, 1000)
    store = TeacherCache(tmp_path, bytes_in(tmp_path) + 10)
    wanted = {"aa" * 20: 4000, "bb" * 20: 4000}
    assert store.missing(wanted) == 0 and store.make_room(wanted) and store.missing({"cc" * 20: 7, **wanted}) == 7
    assert store.find("aa" * 20) is not None and store.find("bb" * 20) is not None


def test_blocks_cover_everything_once():
    assert [list(block) for block in blocks(0)] == []
    found = [number for block in blocks(3000) for number in block]
    assert found == list(range(3000))
