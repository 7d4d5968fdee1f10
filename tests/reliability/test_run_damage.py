"""No corruption of a run or of a model folder changes silently what the verbs say. `python benchmarks/corruptions.py` is the long form."""

import random
import shutil

import pytest

from reliability import run_damage
from reliability.run_damage import KINDS, Answers, Subject, corrupted


@pytest.fixture(scope="module")
def sound(timed, rows_csv, tmp_path_factory) -> dict[str, tuple[Subject, Answers]]:
    """A run and model folders, and what the verbs say of them."""
    place = tmp_path_factory.mktemp("sound")
    run = shutil.copytree(timed[0], place / "run")
    found = {subject.kind: subject for subject in run_damage.subjects(run, rows_csv, place)}
    return {kind: (subject, subject.answers()) for kind, subject in found.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sound_folder_raises_no_alarm(sound, kind):
    subject, answers = sound[kind]
    for verb, (code, out, err) in answers.items():
        assert code == 0 and out and "MANIFEST" not in err, (verb, err)
    assert subject.answers() == answers


@pytest.mark.parametrize(
    ("kind", "damage"),
    [(kind, damage) for kind, some in KINDS.items() for damage in some],
    ids=lambda one: getattr(one, "__name__", one),
)
def test_no_corruption_is_silent(sound, kind, damage, tmp_path):
    subject, before = sound[kind]
    draw = random.Random(f"{kind} {damage.__name__}")
    for _ in range(2):
        ending, wrong = corrupted(subject, damage, draw, before, tmp_path)
        assert ending != "silent", wrong
