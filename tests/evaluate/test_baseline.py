"""Every baseline on every answer type: valid answers, measured cost, skipped ones with a reason."""

import time

import numpy as np
import pytest

from evaluate.task_kinds import TASKS, fitted, write_vectors
from niwaki.answers.roles import split
from niwaki.evaluate import baseline
from niwaki.evaluate.baseline import BASELINES, OF_IMAGES, OF_LANGUAGE_MODELS, ORDER, run_baselines
from niwaki.evaluate.baselines.frozen import Frozen
from niwaki.evaluate.baselines.majority import Majority
from niwaki.meter import meter


def is_right(task, given, value) -> bool:
    if task.answer == "label":
        return value in task.labels
    if task.answer == "labels":
        return isinstance(value, list) and set(value) <= set(task.labels)
    if task.answer == "number":
        return type(value) is float and np.isfinite(value)
    if task.answer == "roles":
        return len(value) == len(split(given)[0]) and set(value) <= set(task.labels)
    if task.answer == "tags":
        return len(value) == len(given) and set(value) <= set(task.labels)
    if task.answer == "text":
        return isinstance(value, str) and value.isupper()
    if task.answer == "choice":
        return type(value) is int and 0 <= value < len(given[1])
    return value in given[1]


def test_order_contains_every_baseline():
    assert sorted({*ORDER, *OF_LANGUAGE_MODELS, *OF_IMAGES}) == sorted(BASELINES.names())


@pytest.mark.parametrize("candidate", ORDER)
@pytest.mark.parametrize("kind", TASKS)
def test_every_baseline_predicts_valid_answers_or_is_skipped(tasks_by_kind, bert_folder, kind, candidate):
    task = tasks_by_kind[kind]
    answer = fitted(candidate, task, bert_folder)
    if task.answer in ("span", "roles", "text") and candidate in ("static", "frozen"):
        assert answer is None
        return
    assert answer is not None
    for part in ("validation", "test"):
        inputs = task.inputs(task.splits()[part])
        values = answer(inputs)
        assert len(values) == len(inputs)
        assert all(is_right(task, given, value) for given, value in zip(inputs, values, strict=True))
    some = answer(inputs[:3])  # whatever the other inputs
    assert some == (pytest.approx(values[:3], rel=1e-5) if kind == "number" else values[:3])
    assert answer([]) == []


def test_baselines_are_metered_and_reproducible(tasks_by_kind, encoder_folder, quick):
    first, example_stats = run_baselines(tasks_by_kind["label"], encoder_folder, meter)
    again, same = run_baselines(tasks_by_kind["label"], encoder_folder, meter)
    baselines = first["baselines"]
    assert [candidate["kind"] for candidate in baselines] == list(ORDER)
    assert example_stats.shape[:2] == (4, tasks_by_kind["label"].splits()["test"].num_rows)
    assert [candidate["transformer"] for candidate in baselines] == [False, False, False, True]
    assert first["name"] == max(baselines[:3], key=lambda candidate: candidate["validation"])["name"]
    seconds = [candidate["spent"]["seconds"] for candidate in baselines]
    assert all(second > 0 for second in seconds) and sum(seconds) <= first["spent"]["seconds"]
    for candidate, number in zip(baselines, example_stats, strict=True):
        assert candidate["score"]["value"] == pytest.approx((number[:, 0] == number[:, 1]).mean())
    assert np.array_equal(example_stats, same)
    assert [candidate["score"] for candidate in baselines] == [candidate["score"] for candidate in again["baselines"]]


def test_each_baseline_has_its_own_cost(tasks_by_kind, bert_folder, quick, monkeypatch):
    plain = Majority.fit

    def slow(candidate):
        time.sleep(0.3)
        return plain(candidate)

    monkeypatch.setattr(Majority, "fit", slow)
    monkeypatch.setattr(baseline, "ORDER", ("majority", "tfidf"))
    record, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter)
    seconds = [candidate["spent"]["seconds"] for candidate in record["baselines"]]
    assert 0.3 <= seconds[0] <= record["spent"]["seconds"] - seconds[1]


def test_unsupported_baseline_is_skipped_with_a_reason(tasks_by_kind, bert_folder, quick, monkeypatch):
    values: list[str] = []
    monkeypatch.setattr(baseline, "info", values.append)
    record, example_stats = run_baselines(tasks_by_kind["span"], bert_folder, meter)
    assert [candidate["kind"] for candidate in record["baselines"]] == ["majority", "tfidf"] and len(example_stats) == 2
    assert list(record["skipped"]) == ["static", "frozen"]
    reason = "averaged static vectors + linear model: skipped, an average of word vectors does not contain"
    assert record["skipped"]["static"].startswith(reason) and record["skipped"]["static"] in values


def test_chosen_baseline_is_never_a_transformer(tasks_by_kind, encoder_folder, quick, monkeypatch):
    task = tasks_by_kind["label"]
    gold = dict(zip(task.inputs(task.splits()["validation"]), task.gold(task.splits()["validation"]), strict=True))
    gold |= dict(zip(task.inputs(task.splits()["test"]), task.gold(task.splits()["test"]), strict=True))
    monkeypatch.setattr(Frozen, "fit", lambda candidate: lambda inputs: [gold[text] for text in inputs])
    monkeypatch.setattr(baseline, "ORDER", ("majority", "frozen"))
    found, _ = run_baselines(task, encoder_folder, meter)
    assert found["baselines"][1]["score"]["value"] == 1.0
    assert found["name"] == found["baselines"][0]["name"] and found["skipped"] == {}


def test_fine_tuned_model_is_not_used_for_a_baseline(tasks_by_kind, bert_folder, tmp_path, quick):
    """`bert_folder` has a task head. Word vectors from elsewhere have not seen the labels."""
    found, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter)
    assert [candidate["kind"] for candidate in found["baselines"]] == ["majority", "tfidf"]
    assert list(found["skipped"]) == ["static", "frozen"]
    assert all(
        "already fine-tuned (its weights hold a task head (classifier." in why for why in found["skipped"].values()
    )
    vectors = write_vectors(tmp_path, "film 1 2\nplot 2 1\n")
    found, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter, str(vectors))
    assert [candidate["kind"] for candidate in found["baselines"]] == ["majority", "tfidf", "static"]
