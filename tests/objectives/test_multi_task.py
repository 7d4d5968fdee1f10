"""Multi-task training: sampling worked out by hand, each loss on its own rows, the mean score. Runs are in tests/run/steps/test_task_heads.py."""

import json

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL, Batch, forward
from niwaki.models.record import FINAL
from niwaki.objectives.multi_task import VALIDATION, MultiTask, MultiTaskSettings, drawn, stream
from niwaki.tasks.classification import Classification
from niwaki.tasks.regression import Regression
from niwaki.tasks.tagging import Tagging
from niwaki.train.collator import Collator, encode_rows
from niwaki.train.validation import ModelValidation

CPU = torch.device("cpu")


def test_temperature_moves_shares_from_proportional_to_equal():
    assert drawn([90, 10], [900, 100], 1.0) == [90, 10]
    assert drawn([90, 10], [900, 100], 2.0) == [75, 25]  # 30 : 10
    assert drawn([90, 10], [900, 100], 1e9) == [50, 50]
    assert drawn([99, 1, 1], [10_000, 1, 1], 1.0) == [100, 1, 1]  # each is drawn at least once
    assert sum(drawn([5, 5, 5], [50, 50, 50], 1.0)) == 15


def test_a_stream_goes_over_all_rows_before_it_repeats_one():
    lengths = np.arange(10)
    batches = [batch for epoch in range(6) for batch in stream(lengths, 4, 3, epoch * 2, 2)]
    assert [len(batch) for batch in batches].count(2) == 4  # four passes of 4 + 4 + 2 rows
    for first in range(0, 12, 3):
        assert sorted(np.concatenate(batches[first : first + 3])) == list(range(10))
    assert not np.array_equal(np.concatenate(batches[:3]), np.concatenate(batches[3:6]))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Rows for a label, a number and tags."""
    folder = tmp_path_factory.mktemp("rows")
    tiny.write_csv(folder / "labels.csv", 60)
    rows = tiny.sentences(40, seed=8)
    (folder / "numbers.csv").write_text("text,score\n" + "".join(f"{text},{len(text)}\n" for text, _ in rows))
    marked = [
        {"words": text.split(), "tags": ["B-X" if word in tiny.GOOD else "O" for word in text.split()]}
        for text, _ in rows
    ]
    (folder / "tags.jsonl").write_text("".join(json.dumps(row) + "\n" for row in marked))
    return folder


@pytest.fixture
def prepared(files):
    """An objective with three tasks, and its model and collators."""
    settings = {"max_tokens": 24}
    main = Classification(path=str(files / "labels.csv"), **settings)
    objective = MultiTask(main, MultiTaskSettings(temperature=2.0))
    objective.add("length", Regression(path=str(files / "numbers.csv"), **settings), 0.5)
    objective.add("words", Tagging(path=str(files / "tags.jsonl"), **settings), 2.0)
    model = tiny.model("bert", layers=2, labels=main.labels)
    objective.prepare(model, 4)
    train, validation = (
        Collator(encode_rows(model, objective, main.splits()[part]), model, CPU) for part in ("train", "validation")
    )
    return objective, model, train, validation


def test_every_batch_has_rows_of_one_task_and_epochs_are_equally_long(prepared):
    objective, _, train, _ = prepared
    ends = np.cumsum([len(part.features[min(part.features)]) for part in objective.parts.values()])
    epochs = [objective.batches(train.features, 8, 7, epoch) for epoch in range(3)]
    assert len({len(batches) for batches in epochs}) == 1
    for batches in epochs:
        tasks = [set(np.searchsorted(ends, rows, side="right")) for rows in batches]
        assert all(len(task) == 1 for task in tasks) and set().union(*tasks) == {0, 1, 2}
    again = objective.batches(train.features, 8, 7, 1)
    assert all(np.array_equal(one, other) for one, other in zip(epochs[1], again, strict=True))


def test_the_loss_is_the_weighted_loss_of_each_task_on_its_rows(prepared):
    objective, model, train, _ = prepared
    model.network.eval()
    for name, part in objective.parts.items():
        first = min(part.features)
        rows = np.arange(first, first + 5)
        batch = train.batch(rows)
        outputs = forward(model.anatomy, batch, frozenset({FINAL}))
        targets = Collator(part.features[first], model, CPU).batch(np.arange(5)).targets
        if name:
            part.anatomy.network.eval()
            final = outputs.final[0]
            logits = part.anatomy.head.forward(final if name == "words" else final[:, :1])
        else:
            logits = outputs.logits
        expected = part.task.criterion.loss(logits, Batch(batch.inputs, targets, torch.arange(5))) * part.weight
        assert float(objective.loss(outputs, batch)) == pytest.approx(float(expected), rel=1e-5)


def test_a_mixed_batch_weighs_tasks_by_their_rows(prepared):
    objective, model, train, _ = prepared
    model.network.eval()
    firsts = [min(part.features) for part in objective.parts.values()]

    def loss(rows):
        batch = train.batch(np.asarray(rows))
        return float(objective.loss(forward(model.anatomy, batch, frozenset({FINAL})), batch))

    with torch.no_grad():
        one, other = loss([firsts[0]]), loss([firsts[1], firsts[1] + 1])
        assert loss([firsts[0], firsts[1], firsts[1] + 1]) == pytest.approx((one + 2 * other) / 3, rel=1e-4)


def test_heads_of_other_tasks_get_no_gradient(prepared):
    objective, model, train, _ = prepared
    batch = train.batch(np.arange(min(objective.parts["length"].features), min(objective.parts["length"].features) + 3))
    objective.loss(forward(model.anatomy, batch, frozenset({FINAL})), batch).backward()
    assert all(value.grad is not None for value in objective.helpers["length"].parameters())
    assert all(value.grad is None for value in objective.helpers["words"].parameters())
    assert model.network.classifier.weight.grad is None
    assert model.network.bert.encoder.layer[0].attention.self.query.weight.grad.abs().sum() > 0


def test_the_score_is_the_mean_of_each_task_as_it_scores_itself(prepared):
    objective, model, _, validation = prepared
    assert validation.features.targets.min() == VALIDATION
    scores = []
    for name, part in objective.parts.items():
        own = part.features[max(part.features)]
        collator = Collator(own, model, CPU)
        logits = []
        for row in range(len(own)):
            outputs = forward(model.anatomy, collator.batch([row]), frozenset({FINAL}))
            final = outputs.final[0]
            found = (
                outputs.logits if not name else part.anatomy.head.forward(final if name == "words" else final[:, :1])
            )
            logits.append(found[0] if found.ndim == 3 else found)
        values = torch.cat(logits).detach().numpy()
        scores.append(part.task.scorer.score_logits(values, own.rows, part.task.splits()["validation"]))
    found = objective.score(ModelValidation(model, validation, "fp32", 0))
    assert found == pytest.approx(np.mean(scores), abs=1e-6)


def test_targets_of_tokens_are_as_wide_as_the_batch(prepared):
    objective, *_ = prepared
    from niwaki.objectives.multi_task import targets_of

    features = objective.parts["words"].features[min(objective.parts["words"].features)]
    found = targets_of(features, np.arange(2), 30)
    assert found.shape == (2, 30) and (found[:, 25:] == NO_LABEL).all()


def test_models_with_prompts_are_rejected(files):
    from calibrated import CONTEXT
    from niwaki.methods.adapt.prompt_tuning import PromptTuning

    main = Classification(path=str(files / "labels.csv"))
    objective = MultiTask(main)
    objective.add("more", main, 1.0)
    with pytest.raises(InputError, match="without a prompt"):
        objective.prepare(PromptTuning(tokens=2).prepare(tiny.model("bert"), CONTEXT), 0)


def test_without_further_tasks_it_is_supervised_training(files):
    main = Classification(path=str(files / "labels.csv"), max_tokens=24)
    objective, model = MultiTask(main), tiny.model("bert", layers=1, labels=main.labels)
    objective.prepare(model, 0)
    collator = Collator(encode_rows(model, objective, main.splits()["train"]), model, CPU)
    plain = Collator(encode_rows(model, main, main.splits()["train"]), model, CPU)
    model.network.eval()
    rows = np.arange(6)
    batch, expected = collator.batch(rows), plain.batch(rows)
    outputs = forward(model.anatomy, batch, frozenset({FINAL}))
    assert float(objective.loss(outputs, batch)) == pytest.approx(float(main.criterion.loss(outputs.logits, expected)))
