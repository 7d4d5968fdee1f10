"""Damage is detected and named, or changes nothing; what is whole raises no alarm; a run goes on from damage of every kind."""

import random
import shutil

import pytest

from reliability import aimed
from reliability.damage import KINDS, Subject, damaged, harm, subjects
from reliability.same import differences
from run import small


@pytest.fixture(scope="module")
def healthy(undisturbed_copy, tmp_path_factory) -> dict[str, list[Subject]]:
    return subjects(undisturbed_copy, tmp_path_factory.mktemp("states"))


@pytest.fixture(scope="module")
def undisturbed_copy(timed, tmp_path_factory):
    return shutil.copytree(timed[0], tmp_path_factory.mktemp("subjects") / "run")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["stage", "served", "state", "cache", "measurement", "ledger"])
def test_damage_is_detected_or_harmless(healthy, part, kind):
    draw = random.Random(f"{part} {kind}")
    for _ in range(6):
        subject = draw.choice(healthy[part])
        with damaged(subject, kind, draw) as path:
            verdict = subject.look()
            assert verdict.good, f"{kind} of {path}"
            assert "\n" not in verdict.named


def test_intact_files_raise_no_alarm(healthy):
    for found in healthy.values():
        for subject in found:
            assert subject.look().named == ""


def test_a_stage_in_the_place_of_another_is_noticed(healthy, undisturbed_copy):
    one, two = sorted(undisturbed_copy.glob("stages/*"))[:2]
    for source, target in ((one, "aside"), (two, one.name), (one.with_name("aside"), two.name)):
        source.rename(source.with_name(target))
    try:
        assert any("holds another stage" in subject.look().named for subject in healthy["stage"])
    finally:
        for source, target in ((one, "aside"), (two, one.name), (one.with_name("aside"), two.name)):
            source.rename(source.with_name(target))


def test_a_run_goes_on_from_damage_of_every_kind_at_once(tmp_path, recipe_file, undisturbed):
    run = shutil.copytree(undisturbed, tmp_path / "run")
    draw = random.Random(0)
    hit = [
        next(run.glob("stages/pruned-*/model/model.safetensors")),
        next(run.glob("stages/int8-*/example_stats.npy")),
        next(run.glob("cache/*/*/numbers.safetensors")),
        run / "baseline.npy",
        run / "comparisons.json",
        run / "speed.json",
        run / "plan.json",
        run / "report.json",
        run / "recipe.toml",
        run / "ledger.jsonl",
    ]
    for number, path in enumerate(hit):
        harm(path, "missing" if path.name == "baseline.npy" else KINDS[number % 2], draw, [path])
    log = tmp_path / "log"
    process = small.begin(aimed.command(recipe_file, run), log)
    process.join()
    output = log.read_text()
    assert process.exitcode == 0, output
    assert differences(run, undisturbed) == []
    for path in hit[:6]:
        assert sum(str(path) in line or str(path.parent) in line for line in output.splitlines()), (
            f"{path} was not named"
        )
    assert "Traceback" not in output


def test_damaged_teacher_outputs_are_recomputed(tmp_path, recipe_file, undisturbed):
    """A kill while the student trains, then damage to the teacher cache."""
    run, log = tmp_path / "run", tmp_path / "log"
    aims = iter([aimed.Aim("border", 12), aimed.Aim("save", 110)])
    shared = tmp_path / "place"
    shared.write_bytes(b"\0")
    for aim in aims:
        aimed.begin(aimed.command(recipe_file, run), log, run, aim, shared).join()
    table = next(run.glob("cache/*/[!.]*/numbers.safetensors"))
    states = sorted(run.glob("stages/.work-student-*/checkpoint-*"))
    assert len(states) == 2
    harm(table, "flip", random.Random(0), [])
    harm(
        states[-1] / "best.safetensors"
        if (states[-1] / "best.safetensors").exists()
        else states[-1] / "weights.safetensors",
        "cut",
        random.Random(0),
        [],
    )
    small.begin(aimed.command(recipe_file, run), log).join()
    output = log.read_text()
    assert f"{table}: is not what was saved (damaged or changed since); the teacher computes it again" in output
    assert f"{states[-1]}/" in output and "using the checkpoint before it" in output
    assert differences(run, undisturbed) == []
