"""Every objective on plain texts: it learns, the same seed gives the same weights, and a resumed training ends with the same bits."""

import contextlib

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.objectives import OBJECTIVES
from niwaki.objectives._factory import make_objective
from niwaki.objectives._objective import Objective
from niwaki.objectives._token_prediction import TokenPrediction
from niwaki.tasks.language_modeling import LanguageModeling
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.loop import Interrupted, Job, fit
from niwaki.train.settings import TrainSettings

CPU = torch.device("cpu")
NAMES = [name for name in OBJECTIVES.names() if issubclass(OBJECTIVES.load(name, Objective), TokenPrediction)]
pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    """Plain texts, and pairs of texts."""
    folder = tmp_path_factory.mktemp("texts")
    rows = [text for text, _ in tiny.sentences(240)]
    (folder / "texts.txt").write_text("\n\n".join(" ".join(rows[number : number + 2]) for number in range(0, 240, 2)))
    (folder / "pairs.tsv").write_text("\n".join(["a\tb", *(f"{row}\t{row}" for row in rows[:120])]) + "\n")
    more = {"max_tokens": 24, "validation": 0.1, "test": 0.1, "cache": str(folder / "cache")}
    return (
        LanguageModeling(path=str(folder / "texts.txt"), **more),
        LanguageModeling(path=str(folder / "pairs.tsv"), column="a", second_column="b", **more),
    )


def accepted(name, tasks):
    """The first task that the objective accepts."""
    for task in tasks:
        with contextlib.suppress(InputError):
            make_objective(name, task).check()
            return task
    raise AssertionError(name)


def trained(name, tasks, folder, stops=(), epochs=0.8):
    """The objective, the network and the validation scores; all made anew, as a new process would."""
    task = accepted(name, tasks)
    objective = make_objective(name, task)
    family = "electra" if objective.directions == 1 else "bilstm_lm"
    model = tiny.model(family, layers=1, head="MaskedLM", labels=[], seed=2)
    objective.prepare(model, 11)
    parts = [task.splits()[part] for part in ("train", "validation")]
    train, validation = (Collator(encode_rows(model, objective, rows), model, CPU) for rows in parts)
    settings = TrainSettings(epochs=epochs, batch=16, lr=5e-3, validations=2, dropout=0.1)
    context, done = Context(0, None, None, None, None, objective.soft_loss, None), iter(range(10_000))
    job = Job(
        "x", model, [], context, objective, train, validation, settings, "fp32", 7, folder, lambda: next(done) in stops
    )
    state = fit(job)
    return objective, model, [record["score"] for record in state.history if record["kind"] == "validation"]


def states(objective, model):
    helpers = {} if objective.helpers is None else objective.helpers.state_dict()
    return {**model.network.state_dict(), **{f"helpers.{key}": value for key, value in helpers.items()}}


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_training_ends_with_the_same_bits(name, tasks, tmp_path):
    whole, model, scores = trained(name, tasks, tmp_path / "whole")
    with pytest.raises(Interrupted):
        trained(name, tasks, tmp_path / "stopped", stops=(2,))
    again, other, repeated = trained(name, tasks, tmp_path / "stopped")
    first, second = states(whole, model), states(again, other)
    assert first.keys() == second.keys() and scores == repeated
    assert all(torch.equal(value, second[key]) for key, value in first.items())


@pytest.mark.parametrize(
    "name", [name for name in NAMES if name != "replaced_token_detection"]
)  # the generator learns as well
def test_scores_rise(name, tasks, tmp_path):
    *_, scores = trained(name, tasks, tmp_path, epochs=3)
    assert scores[-1] > 1.2 * scores[0] > 0
