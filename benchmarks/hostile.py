"""Meets each of the 120 hostile files with a process of its own, under strace: exit code, lines, time, memory, and what
the process made. Appends a record, with a line for each case, to results/hostile.jsonl. Needs strace.

    python benchmarks/hostile.py [name ...]     all, or those whose name holds one of the words (then nothing is recorded)

Time and memory are what the refusal took beyond its start: the same verb on sound files, median of three, is taken off;
what the whole process took is told beside it. Seconds are of the processor, which a busy machine does not lengthen. "Made" are files opened to write, folders, links,
processes and sockets; what the interpreter and its libraries do at every start, seen in the sound runs, is not counted.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from records import append, circumstances  # noqa: E402

from hostile.sound import TEXT, Case, Sound, cases, make_sound  # noqa: E402

CALLS = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mknod,mknodat,socket,connect,execve,fork,vfork,clone,clone3"
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")
NIWAKI = "import sys, resource; from niwaki.cli._app import run; code = run(sys.argv[1:]); used = resource.getrusage(resource.RUSAGE_SELF); sys.stdout.flush(); open(int(sys.argv[0]) if sys.argv[0].isdigit() else 3, 'w').write(f'{used.ru_utime + used.ru_stime} {used.ru_maxrss}'); sys.exit(code)"
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", "TOKENIZERS_PARALLELISM": "false"}  # fmt: skip
MOST_SECONDS, MOST_MEGABYTES = 1.0, 300
MOST = ("seconds", "megabytes", "whole_seconds", "whole_megabytes")


def meet(arguments: list[str], trace: Path | None) -> dict[str, Any]:
    """One process: what it said, took and made."""
    read, write = os.pipe()
    os.set_inheritable(write, True)
    code = NIWAKI.replace("int(sys.argv[0]) if sys.argv[0].isdigit() else 3", str(write))
    command = [sys.executable, "-c", code, *arguments]
    if trace is not None:
        command = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", str(trace), *command]
    done = subprocess.run(
        command, capture_output=True, text=True, pass_fds=[write], env={**os.environ, **ENVIRONMENT}, timeout=900
    )
    os.close(write)
    with os.fdopen(read) as file:
        said = file.read().split()
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    taken = (
        {"seconds": float(said[0]), "megabytes": int(said[1]) / 1024} if said else {"seconds": None, "megabytes": None}
    )
    return {"code": done.returncode, "lines": lines, "out": done.stdout, **taken, "made": made(trace) if trace else []}


def made(trace: Path) -> list[str]:
    """Calls that made something and did not fail; threads are not processes."""
    found = []
    for line in trace.read_text(errors="replace").splitlines():
        call = line.partition(" ")[2].strip()
        name = call.partition("(")[0]
        if (
            " = -1 " in call
            or "CLONE_THREAD" in call
            or name.startswith("<")
            or ("unfinished" in call and name.startswith("clone"))
        ):
            continue
        if (name.startswith("open") and not WRITES.search(call)) or (name == "execve" and NIWAKI[:20] in call):
            continue
        found.append(re.sub(r"0x[0-9a-f]+|\d{3,}", "N", call)[:200])
    return found


def base_of(sound: Sound) -> dict[str, dict[str, Any]]:
    """The verbs on sound files."""
    commands = {
        "predict": ["predict", str(sound.model), TEXT],
        "torch": ["predict", str(sound.edited), TEXT, "--engine", "torch"],
        "check": ["check", str(sound.recipe), "--data", str(sound.rows)],
        "report": ["report", str(sound.run)],
    }
    found = {}
    for name, command in commands.items():
        times = [meet(command, None) for _ in range(3)]
        assert all(one["code"] == 0 for one in times), times[0]["lines"]
        with tempfile.TemporaryDirectory() as folder:
            usual = meet(command, Path(folder, "trace"))["made"]
        found[name] = {
            "seconds": statistics.median(one["seconds"] for one in times),
            "megabytes": statistics.median(one["megabytes"] for one in times),
            "made": set(usual)
            if name != "report"
            else {call for call in usual if "report" not in call and ".tmp" not in call},
        }
    return found


def judge(case: Case, sound: Sound, bases: dict[str, dict[str, Any]]) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        arguments = case.make(sound, folder)
        base = bases["torch" if "torch" in arguments else arguments[0]]
        plain = meet(arguments, None)
        traced = meet(arguments, folder.with_name(f"{folder.name}.trace"))
        new = [call for call in traced["made"] if call not in base["made"] and "/dev/null" not in call]
    finally:
        shutil.rmtree(folder)
        folder.with_name(f"{folder.name}.trace").unlink(missing_ok=True)
    seconds = max(0.0, plain["seconds"] - base["seconds"]) if plain["seconds"] is not None else None
    megabytes = max(0.0, plain["megabytes"] - base["megabytes"]) if plain["megabytes"] is not None else None
    good = (
        plain["code"] == 3 and len(plain["lines"]) == 1 and plain["out"] == "" and seconds is not None
        and seconds < MOST_SECONDS and megabytes < MOST_MEGABYTES and not new
    )  # fmt: skip
    line = plain["lines"][0].replace(str(folder), "…") if plain["lines"] else ""
    return {
        "family": case.family, "trick": case.trick, "refused": good, "code": plain["code"], "lines": len(plain["lines"]),
        "seconds": round(seconds or 0, 3), "megabytes": round(megabytes or 0, 1), "whole_seconds": round(plain["seconds"] or 0, 3),
        "whole_megabytes": round(plain["megabytes"] or 0, 1), "made": new[:5], "line": line[:300],
    }  # fmt: skip


def main(words: list[str]) -> None:
    chosen = [case for case in cases() if not words or any(word in str(case) for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        sound = make_sound(Path(folder))
        bases = base_of(sound)
        rows = []
        for case in chosen:
            rows.append(judge(case, sound, bases))
            print(
                f"{'refused' if rows[-1]['refused'] else 'NOT AS PROMISED':<16} {case}  {rows[-1]['seconds']:.2f} s  {rows[-1]['megabytes']:.0f} MB  {rows[-1]['made'] or ''}",
                flush=True,
            )
    record = {
        "files": len(rows), "families": len({row["family"] for row in rows}), "not_as_promised": [f"{row['family']}-{row['trick']}" for row in rows if not row["refused"]],
        "made": sum(bool(row["made"]) for row in rows), **{f"most_{key}": max(row[key] for row in rows) for key in MOST}, "asked_seconds": MOST_SECONDS,
        "asked_megabytes": MOST_MEGABYTES,
    }  # fmt: skip
    print(record)
    if not words:
        append("hostile", {**record, "cases": rows, **circumstances()})
    sys.exit(1 if record["not_as_promised"] else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
