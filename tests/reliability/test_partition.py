"""Two machines whose cable is cut in the middle of a training: both end within 30 s, and the run resumes to the same bits.

The machines are network namespaces, which only root can make, and have the disk in common.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from niwaki.meter.ledger import Ledger
from reliability.pair import free_port
from run import small

ROOT = Path(__file__).parents[2]
END_SECONDS = 30
A, B = ("niwaki-a", "10.77.0.1"), ("niwaki-b", "10.77.0.2")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def machines():
    if os.geteuid() or shutil.which("ip") is None:
        pytest.skip("needs root and the command ip")
    for name, _ in (A, B):
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        ip("netns", "add", name)
    ip("link", "add", "wire", "netns", A[0], "type", "veth", "peer", "name", "wire", "netns", B[0])
    for name, address in (A, B):
        ip("-n", name, "addr", "add", f"{address}/24", "dev", "wire")
        ip("-n", name, "link", "set", "wire", "up")
        ip("-n", name, "link", "set", "lo", "up")
    yield
    for name, _ in (A, B):
        ip("netns", "del", name)


def start(recipe: Path, out: Path, folder: Path) -> list[subprocess.Popen]:
    """`niwaki run` on both machines."""
    port, found = free_port(), []
    for rank, (name, _) in enumerate((A, B)):
        variables = {
            "RANK": rank,
            "LOCAL_RANK": 0,
            "WORLD_SIZE": 2,
            "MASTER_ADDR": A[1],
            "MASTER_PORT": port,
            "GLOO_SOCKET_IFNAME": "wire",
        }
        environment = (
            os.environ
            | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
            | {k: str(v) for k, v in variables.items()}
        )
        command = [
            "ip",
            "netns",
            "exec",
            name,
            sys.executable,
            "-m",
            "niwaki",
            "run",
            str(recipe),
            "--out",
            str(out),
            "--stages-only",
        ]
        with (folder / f"log-{rank}").open("a") as log:
            found.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
    return found


def end(processes: list[subprocess.Popen], seconds: float) -> list[int]:
    """Exit codes; fails if a process hangs."""
    until = time.monotonic() + seconds
    try:
        return [process.wait(max(0.1, until - time.monotonic())) for process in processes]
    finally:
        for process in processes:
            process.kill()


@pytest.mark.slow
def test_a_cut_cable_ends_both_and_the_run_resumes_to_the_same_bits(tmp_path, bert_folder, rows_csv, machines):
    recipe = small.write_recipe(tmp_path, bert_folder, rows_csv, epochs=12, save=0.2)
    recipe.write_text(recipe.read_text().replace("save_seconds", "micro_shards = 2, save_seconds"))
    whole, cut = tmp_path / "whole" / "run", tmp_path / "cut" / "run"
    for out in (whole, cut):
        out.parent.mkdir()
    assert end(start(recipe, whole, tmp_path), 300) == [0, 0], (tmp_path / "log-0").read_text()
    processes = start(recipe, cut, tmp_path)
    while not list(cut.glob("stages/.work-*/checkpoint-*")):
        time.sleep(0.05)
        assert all(process.poll() is None for process in processes), (tmp_path / "log-0").read_text()
    ip("-n", B[0], "link", "set", "wire", "down")
    began = time.monotonic()
    codes = end(processes, END_SECONDS)
    assert 0 not in codes, codes
    assert time.monotonic() - began < END_SECONDS
    output = (tmp_path / "log-0").read_text()
    assert (
        "niwaki: process 1 of 2 has not answered for 20 s; what was saved is kept" in output
        and "Traceback" not in output
    )
    ip("-n", B[0], "link", "set", "wire", "up")
    assert end(start(recipe, cut, tmp_path), 300) == [0, 0], (tmp_path / "log-0").read_text()
    assert small.weights(cut) == small.weights(whole) and len(small.weights(whole)) == 4
    assert small.histories(cut) == small.histories(whole)
    statuses = [line["status"] for line in Ledger(cut / "ledger.jsonl").lines()]
    assert statuses.count("killed") + statuses.count("failed") == 1 and statuses.count("done") == 4
