"""A disk that fails at every single call of a save: `python benchmarks/faults.py`. Needs strace and root (for a small disk).

ENOSPC, EIO and EACCES at every system call that writes a checkpoint, a stage, a measurement or a ledger line; earlier data must stay
intact. Then the recipe of the tests runs on a disk (tmpfs) that fills up during each trained stage; it must report this in one line, and
the same command must then complete with the usual results. Appends a record to results/faults.jsonl.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import torch
from records import append, circumstances

import tiny
from reliability import aimed, faults
from reliability.same import differences
from reliability.saves import all_saves
from run import small

DISK = "64m"
FILLED_IN = ("teacher", "student", "pruned")


def main() -> None:
    torch.set_num_threads(1)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ends, wrong = {}, []
        for save in all_saves(Path(folder)):
            ends[save.name], found = faults.try_every(save, Path(folder))
            wrong += [f"{save.name}: {fault}" for fault in found]
            print(save.name, ends[save.name], found, flush=True)
    record = {
        "errors": faults.ERRORS,
        "ends": ends,
        "wrong": wrong,
        "full_disk": full_disk(),
        "seconds": time.monotonic() - began,
    }
    append("faults", {**record, **circumstances()})
    print(record)
    sys.exit(1 if wrong or record["full_disk"]["differing"] else 0)


def full_disk() -> dict:
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as disk:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk], check=True)
        try:
            return fill_up(Path(folder), Path(disk))
        finally:
            subprocess.run(["umount", disk], check=True)


def fill_up(folder: Path, disk: Path) -> dict:
    (model := folder / "model").mkdir()
    tiny.model("bert", ffn=256).save(model)
    recipe = small.write_recipe(folder, model, tiny.write_csv(folder / "rows.csv"), save=0.001)
    aimed.run_alone(recipe, folder / "alone", folder / "log")
    arguments = [*aimed.command(recipe, disk / "run"), "--quiet"]
    lines, codes = [], []
    for stage in FILLED_IN:
        log = folder / f"log-{stage}"
        process = small.begin(arguments, log)
        while process.is_alive() and not list(disk.glob(f"run/stages/.work-{stage}-*/checkpoint-*")):
            time.sleep(0.002)
        ballast(disk / "ballast")
        process.join()
        codes.append(process.exitcode)
        lines += log.read_text().splitlines()
        (disk / "ballast").unlink()
    process = small.begin(arguments, folder / "log")
    process.join()
    same = differences(disk / "run", folder / "alone") if process.exitcode == 0 else [f"ended with {process.exitcode}"]
    names = [line.replace(str(disk), "DISK") for line in lines]
    return {"filled": len(FILLED_IN), "exit_codes": codes, "lines": names, "differing": same}


def ballast(path: Path) -> None:
    """Takes all that is free."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


if __name__ == "__main__":
    main()
