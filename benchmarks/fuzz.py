"""Coverage-guided fuzzing of untrusted input: `python benchmarks/fuzz.py recipe|blueprint|config|program|predict --minutes 15`.

Minutes are CPU time from the first input on. Needs atheris (`pip install atheris`), which is guided by the branches of Python code and
has timeouts and memory limits; hypothesis is not guided, and coverage through sys.settrace is ten times slower. Half of the inputs are
mutated as JSON trees, so that they pass the parser; the rest as bytes. An input may be accepted or rejected (NiwakiError; on the command
line one line with exit code 2 or 3). Every other exception, 5 s of CPU time or 4 GB is a finding; Python code is stopped after 30 s,
everything after an hour. Findings are stored in results/fuzz/, and the command then exits with 1. Appends a record to results/fuzz.jsonl.
"""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import fuzz_targets
from fuzz_mutations import mutated

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
ROOT = Path(__file__).parents[1]
TARGETS = ("recipe", "blueprint", "config", "program", "predict")
SLOW_CPU_SECONDS, HANGING_CPU_SECONDS, TIMEOUT_SECONDS, MEMORY_MB, LARGEST = 5, 30, 3600, 4096, 16_384
CROWDED = 20  # maximum ratio of wall time to CPU time


def main(target: str, minutes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        record = fuzz(target, minutes, Path(folder))
    from records import append, circumstances

    append("fuzz", {**record, **circumstances()})
    print(record)
    sys.exit(1 if record["findings"] or record["exit_code"] else 0)


def fuzz(target: str, minutes: float, folder: Path) -> dict[str, Any]:
    """Fuzzes in a child process and reads its results from files, because libFuzzer does not return."""
    corpus, state_file = folder / "corpus", folder / "state.json"
    corpus.mkdir()
    command = [
        sys.executable,
        __file__,
        "--child",
        target,
        str(folder),
        str(minutes),
        str(corpus),
        f"-max_total_time={minutes * 60 * CROWDED:.0f}",
    ]
    limits = [
        f"-timeout={TIMEOUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={LARGEST}",
        f"-artifact_prefix={folder}/",
        "-seed=1",
    ]
    began = time.monotonic()
    done = subprocess.run([*command, *limits], capture_output=True, text=True, errors="replace", check=False)
    found = (
        json.loads(state_file.read_text())
        if state_file.exists()
        else {"executions": 0, "cpu_minutes": 0, "findings": {}}
    )
    findings = ROOT / "benchmarks" / "results" / "fuzz"
    for name in [*found["findings"], *(path.name for path in folder.glob("*-*") if path.is_file())]:
        if (folder / name).is_file():
            findings.mkdir(parents=True, exist_ok=True)
            (findings / f"{target}-{name}").write_bytes((folder / name).read_bytes())
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", done.stderr)
    if done.returncode:
        print(done.stderr[-3000:])
    return {
        "target": target,
        "asked_cpu_minutes": minutes,
        "minutes": (time.monotonic() - began) / 60,
        **found,
        "edges": int(coverage[-1][0]) if coverage else None,
        "first_edges": int(coverage[0][0]) if coverage else None,
        "corpus": len(list(corpus.iterdir())),
        "exit_code": done.returncode,
    }


def child(target: str, folder: Path, minutes: float, arguments: list[str]) -> None:
    """Fuzzes until the CPU time is used up."""
    import atheris

    sys.path.insert(0, str(ROOT / "tests"))
    with atheris.instrument_imports(include=["niwaki", "tomllib"]):
        seeds, call = getattr(fuzz_targets, f"{target}_target")(folder)
    for number, seed in enumerate(seeds):
        (folder / "corpus" / f"seed-{number}").write_bytes(seed)
    state: dict[str, Any] = {
        "executions": 0,
        "refused": 0,
        "answered": 0,
        "slowest_cpu_seconds": 0.0,
        "cpu_minutes": 0.0,
        "findings": {},
    }
    first = time.process_time()

    def hangs(number: int, frame: Any) -> None:
        raise TimeoutError(f"{HANGING_CPU_SECONDS} CPU s")

    signal.signal(signal.SIGPROF, hangs)

    def note(name: str, what: str, data: bytes) -> None:
        if name not in state["findings"]:
            state["findings"][name] = what[:300]
            (folder / name).write_bytes(data)

    def one(data: bytes) -> None:
        began = time.process_time()  # CPU time, because other processes may run
        signal.setitimer(signal.ITIMER_PROF, HANGING_CPU_SECONDS)
        try:
            state["refused" if is_rejected(call, data) else "answered"] += 1
        except Exception as error:  # noqa: BLE001 - a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            name = re.sub(r"\W+", "_", f"{type(error).__name__}_{Path(place.filename).stem}_{place.lineno}")
            note(name, f"{type(error).__name__}: {error}", data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        now = time.process_time()
        if now - began > SLOW_CPU_SECONDS:
            note(f"slow_{state['executions']}", f"{now - began:.1f} CPU s", data)
        state["executions"] += 1
        state["slowest_cpu_seconds"] = max(state["slowest_cpu_seconds"], now - began)
        state["cpu_minutes"] = (now - first) / 60
        over = state["cpu_minutes"] >= minutes
        if over or state["executions"] % 50 == 0:
            (folder / "state.json").write_text(json.dumps(state))
        if over:
            os._exit(0)

    atheris.Setup([sys.argv[0], *arguments], one, custom_mutator=mutated)
    atheris.Fuzz()


def is_rejected(call: Any, data: bytes) -> bool:
    from niwaki.core.errors import NiwakiError

    try:
        call(data)
    except NiwakiError as error:
        lines = str(error).splitlines()
        assert lines and max(map(len, lines)) < 2000, "an error message says why, in short lines"
        return True
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # an argument that the system rejects
            raise
        return True
    return False


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), float(sys.argv[4]), sys.argv[5:])
    elif len(sys.argv) > 1 and sys.argv[1] in TARGETS:
        main(sys.argv[1], float(sys.argv[3]) if len(sys.argv) > 3 else 15)
    else:
        sys.exit(__doc__)
