"""Runs every reliability benchmark of the acceptance table and renders it: `python benchmarks/reliability.py [name ...]`.

100 kills, 300 corruptions read by the verbs, 1,000 random shapes of the native engine with 50 call histories each, large files
that are rejected, and what verification costs. Each appends a record to results/; docs/reliability.md is rendered from the newest ones.
With names, only these run. Ends with 1 where a benchmark found a fault.
"""

import subprocess
import sys
from pathlib import Path

import render_reliability

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
    render_reliability.main()
    for name, code in ends.items():
        print(f"{name:<14} {'passed' if code == 0 else f'FAILED, exit code {code}'}")
    return 1 if any(ends.values()) else 0


def run(name: str) -> int:
    """In a process of its own: the benchmarks set threads and environment before they import anything."""
    script, *arguments = COMMANDS[name]
    return subprocess.run([sys.executable, str(HERE / script), *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
