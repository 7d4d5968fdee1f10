"""Runs niwaki on each of 140 malicious files in its own process, under strace. Needs strace.

    python benchmarks/untrusted_files.py [name ...]     all files, or those whose name contains a word (then nothing is recorded)

Appends a record with exit code, output, time, memory and created objects of each case to results/hostile.jsonl. Time and memory are
those beyond the same command on valid files (median of three); those of the whole process are recorded too. Seconds are CPU time.
Created objects are files opened for writing, folders, links, processes and sockets, without those that occur on valid files too.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from records import append, circumstances  # noqa: E402

from hostile.sound import TEXT, Case, Sound, cases, make_sound  # noqa: E402

CALLS = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mknod,mknodat,socket,connect,execve,fork,vfork,clone,clone3"
WRITE_FLAGS = re.compile(r"O_WRONLY|O_RDWR|O_CREAT")
NIWAKI = """
import resource, sys
from niwaki.cli._app import run
code = run(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_SELF)
sys.stdout.flush()
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))  # ru_maxrss is the parent's, too
open(int(sys.argv[1]), "w").write(f"{used.ru_utime + used.ru_stime} {peak}")
sys.exit(code)
"""
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
MOST_SECONDS, MOST_MEGABYTES = 1.0, 300
MOST = ("seconds", "megabytes", "whole_seconds", "whole_megabytes")


def meet(arguments: list[str]) -> dict[str, Any]:
    """Runs one process under strace: its output, resources and created files, processes and sockets."""
    read, write = os.pipe()
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        trace = Path(folder, "trace")
        command = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={CALLS}", "-o", str(trace)]
        done = subprocess.run(
            [*command, sys.executable, "-c", NIWAKI, str(write), *arguments],
            capture_output=True,
            text=True,
            pass_fds=[write],
            env={**os.environ, **ENVIRONMENT},
            timeout=900,
            check=False,
        )
        os.close(write)
        calls = created(trace)
    with os.fdopen(read) as file:
        usage = file.read().split()
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    seconds, megabytes = (float(usage[0]), int(usage[1]) / 1024) if usage else (None, None)
    return {
        "code": done.returncode,
        "lines": lines,
        "out": done.stdout,
        "seconds": seconds,
        "megabytes": megabytes,
        "made": calls,
    }


def created(trace: Path) -> list[str]:
    """Successful system calls that created a file, process or socket; threads do not count."""
    found = []
    for call in whole_calls(trace.read_text(errors="replace")):
        name = call.partition("(")[0]
        if " = -1 " in call or "CLONE_THREAD" in call or not name.isidentifier():
            continue
        start = name == "execve" and "import resource, sys" in call
        if start or (name.startswith("open") and not WRITE_FLAGS.search(call)):
            continue
        found.append(re.sub(r"0x[0-9a-f]+|\d{3,}", "N", call)[:200])
    return found


def whole_calls(text: str) -> Iterator[str]:
    """System calls of a trace; interrupted ones are joined."""
    begun: dict[str, str] = {}
    for line in text.splitlines():
        who, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[who] = call.removesuffix("<unfinished ...>")
        else:
            resumed = re.match(r"<\.\.\. \w+ resumed>", call)
            yield begun.pop(who, "") + call[resumed.end() :] if resumed else call
    yield from begun.values()


def base_of(sound: Sound) -> dict[str, dict[str, Any]]:
    """The commands on valid files."""
    commands = {
        "predict": ["predict", str(sound.model), TEXT],
        "torch": ["predict", str(sound.edited), TEXT, "--engine", "torch"],
        "check": ["check", str(sound.recipe), "--data", str(sound.rows)],
        "report": ["report", str(sound.run)],
    }
    found = {}
    for name, command in commands.items():
        times = [meet(command) for _ in range(3)]
        assert all(one["code"] == 0 for one in times), times[0]["lines"]
        usual = [call for one in times for call in one["made"]]
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
        met = meet(arguments)
        new = [call for call in met["made"] if call not in base["made"] and "/dev/null" not in call]
    finally:
        shutil.rmtree(folder)
    seconds = max(0.0, met["seconds"] - base["seconds"]) if met["seconds"] is not None else None
    megabytes = max(0.0, met["megabytes"] - base["megabytes"]) if met["megabytes"] is not None else None
    refusal = [
        line for line in met["lines"] if line.startswith("niwaki: ")
    ]  # a line about recognized columns may come before
    good = (
        met["code"] == 3
        and len(refusal) == 1
        and refusal == met["lines"][-1:]
        and len(met["lines"]) <= 2
        and met["out"] == ""
        and seconds is not None
        and seconds < MOST_SECONDS
        and megabytes < MOST_MEGABYTES
        and not new
    )
    line = met["lines"][-1].replace(str(folder), "…") if met["lines"] else ""
    return {
        "family": case.family,
        "trick": case.trick,
        "rejected": good,
        "code": met["code"],
        "lines": len(met["lines"]),
        "seconds": round(seconds or 0, 3),
        "megabytes": round(megabytes or 0, 1),
        "whole_seconds": round(met["seconds"] or 0, 3),
        "whole_megabytes": round(met["megabytes"] or 0, 1),
        "made": new[:5],
        "line": line[:300],
    }


def main(words: list[str]) -> None:
    chosen = [case for case in cases() if not words or any(word in str(case) for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        sound = make_sound(Path(folder))
        bases = base_of(sound)
        rows = []
        for case in chosen:
            rows.append(judge(case, sound, bases))
            print(
                f"{'rejected' if rows[-1]['rejected'] else 'NOT AS PROMISED':<16} {case}  {rows[-1]['seconds']:.2f} s  {rows[-1]['megabytes']:.0f} MB  {rows[-1]['made'] or ''}",
                flush=True,
            )
    record = {
        "files": len(rows),
        "families": len({row["family"] for row in rows}),
        "not_as_promised": [f"{row['family']}-{row['trick']}" for row in rows if not row["rejected"]],
        "made": sum(bool(row["made"]) for row in rows),
        **{f"most_{key}": max(row[key] for row in rows) for key in MOST},
        "asked_seconds": MOST_SECONDS,
        "asked_megabytes": MOST_MEGABYTES,
    }
    print(record)
    if not words:
        append("hostile", {**record, "cases": rows, **circumstances()})
    sys.exit(1 if record["not_as_promised"] else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
