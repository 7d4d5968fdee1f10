"""Runs the reliability benchmarks and renders their table: `python benchmarks/reliability.py [name ...]`.

Runs 100 kills, 300 corruptions, 1,000 random shapes of the native engine with 50 call histories each, rejections of large files, and the
cost of verification. Each appends a record to results/; docs/results/reliability.md is rendered from the newest ones. With names, only these run.
Exits with 1 if a benchmark finds a fault.
"""

import subprocess
import sys
from pathlib import Path

import render

HERE = Path(__file__).parent
COMMANDS = {
    "kills": ["kills.py", "100"],
    "corruptions": ["corruptions.py", "300"],
    "native_shapes": ["native_shapes.py", "1000", "50"],
    "rejections": ["rejections.py"],
    "verifying": ["verifying.py"],
}


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in COMMANDS]:
        sys.exit(f"unknown: {', '.join(unknown)}; there is: {', '.join(COMMANDS)}")
    ends = {name: run(name) for name in names or COMMANDS}
    render.main()
    for name, code in ends.items():
        print(f"{name:<14} {'passed' if code == 0 else f'FAILED, exit code {code}'}")
    return 1 if any(ends.values()) else 0


def run(name: str) -> int:
    """Runs a benchmark in a child process, because benchmarks set threads and environment before imports."""
    script, *arguments = COMMANDS[name]
    return subprocess.run([sys.executable, str(HERE / script), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
