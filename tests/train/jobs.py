"""Short training jobs on a tiny task."""

import torch

import teaching
import tiny
from niwaki.methods._method import (
    Context,
    Reshapes,
    followed_activations,
    methods_with,
)
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.objectives.supervised import Supervised
from niwaki.train.collator import Collator, encode_split
from niwaki.train.loop import Job
from niwaki.train.settings import TrainSettings

CPU = torch.device("cpu")


def job(task, folder, *, methods=(), teacher=False, precision="fp32", stop_at=(), layers=2, **settings) -> Job:
    """All made anew, as a new process would."""
    head = {"labels": task.labels, "head": task.head.architecture}
    model = tiny.model("bert", layers=layers, seed=1, **head)
    if teacher:
        model.apply_edit(HiddenSize(keep=16))
    features = encode_split(model, task, "train")
    context = Context(0, None, None, None, None, task.criterion.soft_loss, None)
    if teacher:
        whole = tiny.model("bert", layers=4, seed=2, **head)
        early = Context(0, None, whole, None, None, task.criterion.soft_loss, None)
        for method in methods_with(methods, Reshapes):
            model = method.prepare(model, early)
        activations = followed_activations(methods, model, whole)
        answering = teaching.teacher(
            whole, Collator(encode_split(whole, task, "train"), whole, CPU), activations, folder / "teacher", precision
        )
        context = Context(0, answering, whole, None, None, task.criterion.soft_loss, None)
    stops, done = set(stop_at), iter(range(1, 10_000))
    return Job(
        "tiny",
        model,
        methods,
        context,
        Supervised(task),
        Collator(features, model, CPU),
        Collator(encode_split(model, task, "validation"), model, CPU),
        TrainSettings(**{"epochs": 3, "batch": 8, "lr": 1e-3, **settings}),
        precision,
        7,
        folder,
        lambda: next(done) in stops,
    )


def weights(trained: Job) -> dict[str, torch.Tensor]:
    return trained.model.network.state_dict()


def same(one: dict, two: dict) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
