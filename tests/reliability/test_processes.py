"""Two processes: the same weights in both, resumed to the same bits after a kill of either, and only the first writes."""

import pytest

import tiny
from niwaki.cli._app import run
from niwaki.core.errors import InputError
from niwaki.run.runner import check_single_process
from reliability import pair


@pytest.fixture
def rows(tmp_path):
    return tiny.write_csv(tmp_path / "rows.csv", count=60)


def lines_of(folder, rank) -> list[str]:
    return folder.with_name(f"{folder.name}-{rank}.txt").read_text().splitlines()


@pytest.mark.parametrize("kind", ["layers", "answers"])
def test_killed_and_resumed_two_processes_end_with_the_same_bits(tmp_path, rows, kind):
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    assert pair.train(alone, kind) == [0, 0]
    assert lines_of(alone, 0)[0] == lines_of(alone, 1)[0], "the processes drifted apart"
    assert lines_of(alone, 1)[1:] == [], "the second process wrote"
    for rank, step in ((0, 3), (1, 4)):
        codes = pair.train(killed, kind, kill=(rank, step))
        assert codes[rank] == -9 and 0 not in codes
    assert list(killed.glob("checkpoint-*"))
    assert pair.train(killed, kind) == [0, 0]
    assert lines_of(killed, 0)[0] == lines_of(killed, 1)[0] == lines_of(alone, 0)[0]
    assert lines_of(killed, 1)[1:] == []


def test_two_processes_take_the_mean_of_both_and_not_one_ones_step(tmp_path, rows):
    assert pair.train(tmp_path / "two", "layers") == [0, 0]
    assert pair.train(tmp_path / "one", "layers", world=1) == [0]
    assert lines_of(tmp_path / "two", 0)[0] != lines_of(tmp_path / "one", 0)[0]


def test_a_stop_that_reaches_one_process_stops_both_and_is_saved(tmp_path, rows):
    folder = tmp_path / "run"
    assert pair.train(folder, "answers", stop=(1, 3)) == [130, 130]
    assert (folder / "checkpoint-00000003" / "MANIFEST").exists()


def test_a_run_of_several_processes_is_rejected_in_one_line(monkeypatch, tmp_path, capsys):
    check_single_process()
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match=r"a run is one process, and a launcher \(torchrun, accelerate\) started 2"):
        check_single_process()
    assert run(["run", "--out", str(tmp_path / "run")]) == 3
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "run").exists()
