"""Checkpoints: interrupted training resumes to the same bits."""

import pytest
import torch

from contracts import task_rows
from niwaki.core.files import read_lines
from niwaki.methods.distill.logits import Logits
from niwaki.methods.distill.tinybert import TinyBert
from niwaki.tasks.choice import Choice
from niwaki.tasks.tagging import Tagging
from niwaki.train.loop import Interrupted, fit
from train.jobs import job, same, weights


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("teacher", [False, True], ids=["plain", "tinybert"])
def test_interrupted_training_resumes_to_the_same_bits(task, tmp_path, precision, teacher):
    def build(folder, **more):
        methods = [TinyBert(truth=0.5)] if teacher else []
        return job(
            task, folder, methods=methods, teacher=teacher, precision=precision, dropout=0.2, validations=2, **more
        )

    whole = build(tmp_path / "whole")
    helper = whole.methods[0].helpers["projection"].weight.detach().clone() if teacher else None
    straight = fit(whole)
    stops = [(1,), (3,), (1,), (2,), ()]  # steps after the last stop
    for steps in stops:
        again = build(tmp_path / "parts", stop_at=steps)
        if steps:
            with pytest.raises(Interrupted):
                fit(again)
        else:
            resumed = fit(again)
    assert straight.step > 8 and resumed == straight
    assert same(weights(again), weights(whole))
    assert read_lines(tmp_path / "parts" / "train.jsonl") == read_lines(tmp_path / "whole" / "train.jsonl")
    if teacher:
        assert same(again.methods[0].helpers.state_dict(), whole.methods[0].helpers.state_dict())
        assert not torch.equal(whole.methods[0].helpers["projection"].weight, helper)  # the loop trains it too


@pytest.mark.parametrize("kind", [Tagging, Choice])
def test_tags_and_choices_resume_to_the_same_bits(tmp_path, kind):
    """Answers for each token, and several sequences a row, from a teacher's table that lies on the disk."""
    rows = task_rows.write(kind.__name__.lower(), tmp_path, count=40)

    def go(folder, stops):
        for steps in stops:  # each with a task, a model and a teacher of its own, as a new process has
            again = job(
                kind(path=str(rows)), folder, methods=[Logits()], teacher=True, dropout=0.2, epochs=2, stop_at=steps
            )
            if steps:
                with pytest.raises(Interrupted):
                    fit(again)
        return fit(again), again

    straight, whole = go(tmp_path / "whole", [()])
    resumed, parts = go(tmp_path / "parts", [(1,), (3,), ()])
    assert straight.step > 5 and resumed == straight and same(weights(parts), weights(whole))


def test_damaged_checkpoint_gives_way_to_the_previous_one(task, tmp_path):
    whole = job(task, tmp_path / "whole")
    fit(whole)
    for stop in ((4,), (3,)):
        with pytest.raises(Interrupted):
            fit(job(task, tmp_path / "parts", stop_at=stop))
    states = sorted((tmp_path / "parts").glob("checkpoint-*"))
    assert [path.name for path in states] == ["checkpoint-00000004", "checkpoint-00000007"]
    path = states[1] / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    again = job(task, tmp_path / "parts", stop_at=(1,))
    with pytest.raises(Interrupted):
        fit(again)
    assert (tmp_path / "parts" / "checkpoint-00000005").is_dir()
    again = job(task, tmp_path / "parts")
    fit(again)
    assert same(weights(again), weights(whole))


def test_only_two_checkpoints_remain(task, tmp_path):
    with pytest.raises(Interrupted):
        fit(job(task, tmp_path, save_seconds=1e-9, stop_at=(6,)))
    assert [path.name for path in sorted(tmp_path.glob("checkpoint-*"))] == [
        "checkpoint-00000005",
        "checkpoint-00000006",
    ]


def test_training_starts_anew_if_all_checkpoints_are_damaged(task, tmp_path):
    whole = job(task, tmp_path / "whole")
    fit(whole)
    with pytest.raises(Interrupted):
        fit(job(task, tmp_path / "parts", stop_at=(3,)))
    (tmp_path / "parts" / "checkpoint-00000003" / "MANIFEST").unlink()
    again = job(task, tmp_path / "parts")
    fit(again)
    assert same(weights(again), weights(whole))
