"""Benchmark records: one JSON line each, append-only, with commit, time, versions and machine."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from niwaki.meter.machine import machine
from niwaki.run.plan import versions

FOLDER = Path(__file__).parent / "results"


def append(name: str, record: dict[str, Any]) -> None:
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(record, ensure_ascii=False) + "\n")


def read(name: str) -> list[dict[str, Any]]:
    path = FOLDER / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def circumstances() -> dict[str, Any]:
    """The commit is that of these scripts, wherever they are run."""
    command = ["git", "-C", str(FOLDER.parent), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return {
        "commit": commit,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "machine": machine(),
    }
