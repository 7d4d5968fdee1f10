"""kill -9 at random moments of a short run of the default recipe: `python benchmarks/kills.py [kills]`.

One run is left alone, another is killed again and again and started again by the same command. Appends one record to
results/kills.jsonl: how often it was killed, where, and whether every stage's weights and history are the same to the bit.
"""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from records import append, circumstances

from niwaki.core.files import read_lines, sha256
from niwaki.meter.ledger import Ledger
from niwaki.report.card import CARD, LABEL

PROGRAM = str(Path(sys.executable).with_name("niwaki"))
SHORT = [
    f"stages.{stage}.train.{setting}"
    for stage in ("teacher", "student", "pruned")
    for setting in ("epochs=0.15", "save_seconds=1.0")
] + ["stages.student.train.transfer=200", "stages.pruned.train.transfer=200"]


def command(folder: Path) -> list[str]:
    return [PROGRAM, "run", "--quiet", "--out", str(folder), *(part for item in SHORT for part in ("--set", item))]


def main(kills: int) -> None:
    alone, killed = Path("runs/kills-alone"), Path("runs/kills-killed")
    for folder in (alone, killed):
        shutil.rmtree(folder, ignore_errors=True)
    start = time.monotonic()
    subprocess.run(command(alone), check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    chance = random.Random(0)
    done = 0
    while done < kills:
        # long enough to get on, short enough that all kills fall before the end
        done += kill_after(chance.uniform(1.0, max(10.0, 2.5 * seconds / kills)), killed)
    subprocess.run(command(killed), check=True, stdout=subprocess.DEVNULL)
    record = {"kills": done, "seconds_alone": seconds, **compare(alone, killed), "outcomes": outcomes(killed)}
    append("kills", {**record, **circumstances()})
    print(record)
    sys.exit(0 if record["same"] else 1)


def kill_after(seconds: float, folder: Path) -> int:
    """1 if the run was still going and was killed; a run that got through is taken apart again at its last stages."""
    process = subprocess.Popen(command(folder), stdout=subprocess.DEVNULL)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return 1
    for stage in sorted((folder / "stages").iterdir())[-2:]:
        shutil.rmtree(stage)
    return 0


def compare(alone: Path, killed: Path) -> dict:
    made = (path.relative_to(alone) for path in (alone / "stages").glob("*/model/*"))
    files = sorted(
        path for path in made if path.name not in (CARD, LABEL)
    )  # these tell speeds, which differ from run to run
    differing = [str(path) for path in files if sha256(alone / path) != sha256(killed / path)]
    logs = sorted(path.relative_to(alone) for path in (alone / "stages").glob("*/train.jsonl"))
    differing += [str(path) for path in logs if read_lines(alone / path) != read_lines(killed / path)]
    return {"files": len(files) + len(logs), "differing": differing, "same": not differing}


def outcomes(folder: Path) -> dict[str, int]:
    return Ledger(folder / "ledger.jsonl").total()["all"].outcomes


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
