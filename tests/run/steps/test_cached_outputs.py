"""When teacher outputs are cached, and where."""

from types import SimpleNamespace

import pytest

from niwaki.core.errors import InputError
from niwaki.run.recipe_settings import CacheSettings
from niwaki.run.steps import cached_outputs
from niwaki.run.steps.cached_outputs import with_cache

LAYOUT = SimpleNamespace(bytes={"a": 600, "b": 400}, lengths=[1, 2, 3])


def teacher(sequences):
    return [{"logits": number} for number in sequences]


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job; `built` are the arguments of the cached functions that were built for it."""
    built = []
    monkeypatch.setattr(cached_outputs, "CachedTeacherFunction", lambda *given: built.append(given) or "cached")

    def build(**cache):
        plan = SimpleNamespace(recipe=SimpleNamespace(cache=CacheSettings(**cache)))
        (tmp_path / "run").mkdir(exist_ok=True)
        folder = tmp_path / "run"
        return SimpleNamespace(plan=plan, run_folder=folder, name="student", stop_if_requested=None, built=built)

    return build


def test_outputs_that_fit_are_cached_next_to_the_run(job, tmp_path):
    given = job(gigabytes=1e-6)  # a thousand bytes
    assert with_cache(given, LAYOUT, teacher, always=False) == "cached"
    ((cache, layout, function, label, _),) = given.built
    assert cache.folder == tmp_path / ".teachers" and layout is LAYOUT and function is teacher
    assert label == "student: teacher"


def test_outputs_that_exceed_the_limit_are_computed_at_every_step(job, monkeypatch):
    messages = []
    monkeypatch.setattr(cached_outputs, "info", messages.append)
    given = job(gigabytes=9e-7)
    assert with_cache(given, LAYOUT, teacher, always=False) is teacher and not given.built
    assert "would take" in messages[0] and "the weights will be the same" in messages[0]


def test_answers_that_become_rows_are_always_cached(job):
    given = job(gigabytes=0)
    assert with_cache(given, LAYOUT, teacher, always=True) == "cached"
    assert given.built[0][0].limit >= 1000


def test_a_full_disk_is_noticed_before_the_teacher_runs(job, monkeypatch):
    def full(folder, needed, what):
        raise InputError(f"{folder}: {needed} bytes for {what}")

    monkeypatch.setattr(cached_outputs, "require_space", full)
    given = job()
    with pytest.raises(InputError, match="1000 bytes for stage 'student', its teacher"):
        with_cache(given, LAYOUT, teacher, always=False)
    assert not given.built
