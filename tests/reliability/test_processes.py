"""Several processes: the bits of a single one, also after kills and with another number of processes, and only the first writes."""

import random
import time

import pytest

import tiny
from niwaki.cli._app import run
from niwaki.core.errors import InputError
from niwaki.run.runner import check_processes
from reliability import pair

HANG_SECONDS = 30
KILLS = 50


@pytest.fixture
def rows(tmp_path):
    return tiny.write_csv(tmp_path / "rows.csv", count=60)


def lines_of(folder, rank) -> list[str]:
    return folder.with_name(f"{folder.name}-{rank}.txt").read_text().splitlines()


def assert_equal(folder, world, digest) -> None:
    for rank in range(world):
        assert lines_of(folder, rank)[0] == digest, f"process {rank} of {world} has other weights"
        assert rank == 0 or lines_of(folder, rank)[1:] == [], f"process {rank} wrote"


def test_two_processes_give_the_bits_of_one(tmp_path, rows):
    assert pair.train(tmp_path / "one", "answers", world=1) == [0]
    assert pair.train(tmp_path / "two", "answers", world=2) == [0, 0]
    assert_equal(tmp_path / "two", 2, lines_of(tmp_path / "one", 0)[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["layers", "answers"])
def test_three_and_four_processes_give_the_bits_of_one(tmp_path, rows, kind):
    assert pair.train(tmp_path / "one", kind, world=1) == [0]
    for world in (2, 3, 4):
        folder = tmp_path / str(world)
        assert pair.train(folder, kind, world=world) == [0] * world
        assert_equal(folder, world, lines_of(tmp_path / "one", 0)[0])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["layers", "answers"])
def test_killed_processes_resume_with_any_number_of_them_to_the_same_bits(tmp_path, rows, kind):
    """Each time one process is killed; the others must end by themselves. A training is over when a start was not killed."""
    assert pair.train(tmp_path / "one", kind, world=1) == [0]
    digest, draw, kills, folder = lines_of(tmp_path / "one", 0)[0], random.Random(33), 0, tmp_path / "0"
    while kills < KILLS // 2:
        world = draw.choice([2, 3])
        kill = draw.randrange(world), draw.randrange(1, 4), draw.choice(pair.MOMENTS)
        if kill[2] == "save":  # only the first process saves
            kill = (0, *kill[1:])
        began = time.monotonic()
        codes = pair.train(folder, kind, kill=kill, world=world)
        assert time.monotonic() - began < HANG_SECONDS, (kill, world)
        if -9 in codes:
            kills += 1
            assert codes[kill[0]] == -9 and 0 not in codes, (kill, codes)
        else:
            assert_equal(folder, world, digest)
            folder = tmp_path / f"after-{kills}"
    assert pair.train(folder, kind, world=1) == [0]
    assert lines_of(folder, 0)[0] == digest


@pytest.mark.slow
def test_a_stop_that_reaches_one_process_stops_all_and_is_saved(tmp_path, rows):
    folder = tmp_path / "run"
    assert pair.train(folder, "answers", stop=(1, 3)) == [130, 130]
    assert (folder / "checkpoint-00000003" / "MANIFEST").exists()


def test_another_command_in_several_processes_is_rejected_in_one_line(monkeypatch, tmp_path, capsys):
    check_processes()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"started 2 processes, and only `niwaki run` shares its work"):
        check_processes()
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    assert run(["run", "--out", str(tmp_path / "run")]) == 3
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "FSDP stores a part of each matrix" in error and not (tmp_path / "run").exists()
