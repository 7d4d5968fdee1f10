"""Teachers of a stage: cached and recomputed outputs, several teachers, teachers from elsewhere."""

import pytest

from niwaki.core.files import read_json
from niwaki.engines.activation_runner import ActivationRunner
from niwaki.run.plan import make_plan
from run.teaching import LOGITS, TRAIN, learner, run, two_phases, weights


def test_cached_and_recomputed_activations_give_the_same_weights(recipe, tmp_path):
    """A second run next to the first finds all activations in the cache."""
    stage = learner(methods=[{"use": "student", "layers": 2, "hidden": 16, "heads": 4}, {"use": "tinybert"}])
    *_, cached = run(recipe(stage), tmp_path / "one" / "run")
    blocks = sorted((tmp_path / "one" / ".teachers").glob("*/*"))
    assert blocks
    times = [path.stat().st_ctime_ns for path in blocks]
    *_, anew = run(recipe(stage, cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert not (tmp_path / "two" / ".teachers").exists()
    assert weights(cached) == weights(anew) and cached.name == anew.name
    *_, again = run(recipe(stage), tmp_path / "one" / "other")
    assert weights(again) == weights(cached)
    assert all(
        (block / "numbers.safetensors").stat().st_mtime_ns <= time for block, time in zip(blocks, times, strict=True)
    )
    assert sorted((tmp_path / "one" / ".teachers").glob("*/*")) == blocks


def test_logits_are_cached_whatever_the_size_limit(recipe, tmp_path):
    """Computed in the student's batches, the logits of a second or resumed run would differ in their last bits."""
    no_cache = recipe(learner(), cache={"gigabytes": 0.0})
    one, two = (run(no_cache, tmp_path / "runs" / name)[-1] for name in ("one", "two"))
    assert one.name == two.name and weights(one) == weights(two)


def test_pretrained_teacher_is_used_unchanged(recipe, tmp_path):
    first, taught = run(recipe(learner()), tmp_path / "one" / "run")
    elsewhere = {"name": "guest", "model": str(first / "model")}
    student = learner(teacher="guest", start="guest")
    _, guest, learner_folder = run(recipe(elsewhere, student), tmp_path / "two" / "run")
    assert weights(guest) == weights(first) and weights(learner_folder) == weights(taught)


def test_stage_key_includes_every_teacher(recipe, tmp_path):
    other = {"name": "other", "start": "teacher", "train": {**TRAIN, "lr": 3e-3}}
    both = recipe(other, learner(teacher=["teacher", "other"]))
    one = recipe(other, learner(teacher="teacher"))
    *_, of_both = run(both, tmp_path / "run")
    *_, of_one = run(one, tmp_path / "run")
    assert of_both.name != of_one.name and weights(of_both) != weights(of_one)
    assert make_plan(both, "x").to_json()["stages"][2]["teachers"] == ["teacher", "other"]


def test_logits_that_were_cached_with_activations_are_reused(recipe, tmp_path, monkeypatch):
    """Without room in the cache they are computed in the same way, so that the weights are the same."""
    plan = make_plan(recipe(*two_phases()), "teaching")
    assert [stage.teacher_cached for stage in plan.stages] == [False, False, True]
    requested = []
    plain = ActivationRunner.__call__
    monkeypatch.setattr(
        ActivationRunner, "__call__", lambda self, *given: requested.append(self.names) or plain(self, *given)
    )
    monkeypatch.setattr("niwaki.train.teacher.logits_of", None)  # nobody may want batches
    *_, cached = run(recipe(*two_phases()), tmp_path / "one" / "run")
    assert requested and all(requested)  # for layers alone
    *_, anew = run(recipe(*two_phases(), cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert not requested[-1]
    assert weights(cached) == weights(anew) and cached.name == anew.name


@pytest.mark.parametrize("second", [{"augmentations": 2}, {"labelled": False}])
def test_cached_logits_of_other_texts_are_not_reused(recipe, second):
    plan = make_plan(recipe(*two_phases(**second)), "teaching")
    assert not plan.stages[-1].teacher_cached


def test_stage_key_depends_on_whether_activations_were_cached_before(recipe):
    """Also where the stage that compared them is neither its start nor its teacher."""
    first, _ = two_phases()
    last = learner("answers", augmentations=1)
    plans = [
        make_plan(recipe({**first, "methods": [first["methods"][0], one]}, last), "teaching")
        for one in (first["methods"][1], LOGITS)
    ]
    assert [plan.stages[-1].teacher_cached for plan in plans] == [True, False]
    assert len({plan.stages[-1].key for plan in plans}) == 2


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param({"use": "magnitude"}, marks=pytest.mark.slow),
        pytest.param({"use": "rtn", "bits": 4}, marks=pytest.mark.slow),
        pytest.param({"use": "ternary"}, marks=pytest.mark.slow),
    ],
    ids=lambda packed: packed["use"],
)
def test_activations_of_a_packed_teacher_are_cached_exactly(recipe, tmp_path, packed):
    """Its graph holds operators that no engine knows until they are written out."""
    small = {"name": "packed", "methods": [packed], "train": TRAIN}
    stage = learner(methods=[{"use": "student", "layers": 2}, {"use": "tinybert"}], teacher="packed")
    *_, cached = run(recipe(small, stage), tmp_path / "one" / "run")
    *_, anew = run(recipe(small, stage, cache={"gigabytes": 0.0}), tmp_path / "two" / "run")
    assert weights(cached) == weights(anew)


def test_exits_follow_several_teachers(recipe, tmp_path):
    second = {"name": "second", "start": "teacher", "train": TRAIN}
    stage = learner(methods=[{"use": "exits", "after": [1]}, LOGITS], teacher=["teacher", "second"])
    *_, done = run(recipe(second, stage), tmp_path / "run")
    assert read_json(done / "model" / "config.json")["niwaki_exits"] == [1]
