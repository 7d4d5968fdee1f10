"""Compares niwaki with four other energy meters on six jobs: `python benchmarks/meters.py`.

Creates a virtual environment per meter in a temporary folder and writes benchmarks/results/meters.jsonl, from which `make results` renders
docs/results/metering.md. Every job counts its CPU seconds with its own clock, so that readings can be compared with the work done.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "meters.jsonl"

# meter: what pip installs for it. eco2AI fails with pandas 3 (TypeError when it writes its file).
METERS = {
    "niwaki": [],
    "codecarbon-machine": ["codecarbon"],
    "codecarbon-process": ["codecarbon"],
    "eco2ai": ["eco2ai", "pandas<3", "setuptools<81"],
    "carbontracker": ["carbontracker"],
    "zeus": ["zeus"],
}


TITLES = {
    "sleep": "sleep for 3 s",
    "busy": "2 CPU s of work",
    "two": "2 CPU s in each of two concurrent processes",
    "children": "ten children of 0.2 CPU s",
    "subsecond": "0.1 CPU s of work",
    "nested": "nested: outer window / sum of two inner windows of 1 CPU s",
}
JOBS = tuple(TITLES)


# -- run all


def environment(packages: list[str], folder: Path) -> tuple[str, str]:
    """Python of a new environment with `packages`, and the installed version; niwaki uses the current environment."""
    if not packages:
        from importlib.metadata import version

        return sys.executable, f"niwaki {version('niwaki')}"
    if not (folder / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", *packages]
        subprocess.run(pip, check=True, capture_output=True, text=True)
    frozen = subprocess.run([str(folder / "bin" / "pip"), "freeze"], check=True, capture_output=True, text=True).stdout
    chosen = [line for line in frozen.splitlines() if line.partition("==")[0].lower() == packages[0]]
    return str(folder / "bin" / "python"), "".join(chosen).replace("==", " ")


def start(python: str, meter: str, job: str, folder: Path) -> "subprocess.Popen[str]":
    command = [python, "-P", str(HERE / "meters_child.py"), meter, job]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)


def wait_for(process: "subprocess.Popen[str]") -> dict[str, Any]:
    try:
        out, err = process.communicate(timeout=180)
    except subprocess.TimeoutExpired:
        process.kill()
        return {"error": "no answer in 180 s"}
    if process.returncode != 0:
        return {"error": (err.strip().splitlines() or ["no message"])[-1][:200]}
    return json.loads(out.strip().splitlines()[-1])


def run_all(only: list[str]) -> None:
    from niwaki.meter.machine import machine

    found: list[dict[str, Any]] = [{"machine": machine(), "date": time.strftime("%Y-%m-%d", time.gmtime())}]
    with tempfile.TemporaryDirectory() as temporary:
        for meter, packages in METERS.items():
            if only and meter not in only:
                continue
            folder = Path(temporary) / (packages[0] if packages else "niwaki")
            folder.mkdir(exist_ok=True)
            try:
                python, version = environment(packages, folder)
            except subprocess.CalledProcessError as error:
                found.append({"meter": meter, "error": f"cannot be installed: {(error.stderr or '').strip()[-200:]}"})
                continue
            for job in JOBS:
                started = [start(python, meter, job, folder) for _ in range(2 if job == "two" else 1)]
                found += [{"meter": meter, "version": version, "job": job, **wait_for(process)} for process in started]
                print(json.dumps(found[-1]), flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("".join(json.dumps(line) + "\n" for line in found), encoding="utf-8")


# -- table in docs/results/metering.md


def digits(value: float) -> str:
    from niwaki.meter.reading import significant

    return significant(value)


def cell(lines: list[dict[str, Any]], job: str) -> str:
    """Reading of one meter for one job."""
    errors = [line["error"] for line in lines if "error" in line]
    if errors:
        return f"error: {errors[0].partition(':')[0]}"
    if not lines:
        return "not run"
    answers = [[answer["joules"] for answer in line["answers"]] for line in lines]
    if job == "nested":
        outer, *inner = answers[0]
        return f"{digits(outer)} / {digits(sum(inner))}"
    return " and ".join(digits(answer[0]) for answer in answers) + processor_part(lines[0]["answers"][0])


def processor_part(answer: dict[str, Any]) -> str:
    """CodeCarbon adds a constant for memory; its processor part is shown separately."""
    return f" (CPU {digits(answer['cpu_part'])})" if "cpu_part" in answer else ""


def table(found: list[dict[str, Any]]) -> str:
    meters = list(dict.fromkeys(line["meter"] for line in found if "meter" in line))
    rows = ["| joules reported for | " + " | ".join(meters) + " |", "|---" * (len(meters) + 1) + "|"]
    for job, title in TITLES.items():
        of = {
            name: [line for line in found if line.get("meter") == name and line.get("job", job) == job]
            for name in meters
        }
        rows.append(f"| {title} | " + " | ".join(cell(of[name], job) for name in meters) + " |")
    last = {"wall seconds for the 2 CPU s": wall, "seconds to import, start and stop (median)": overhead}
    rows += [
        f"| {title} | " + " | ".join(figure(found, name) for name in meters) + " |" for title, figure in last.items()
    ]
    return "\n".join(rows)


def wall(found: list[dict[str, Any]], meter: str) -> str:
    times = [line["seconds"] for line in found if line.get("meter") == meter and line.get("job") == "busy"]
    return " and ".join(digits(seconds) for seconds in times) or "–"


def overhead(found: list[dict[str, Any]], meter: str) -> str:
    from statistics import median

    times = [line["overhead_seconds"] for line in found if line.get("meter") == meter and "overhead_seconds" in line]
    return digits(median(times)) if times else "–"


def rendered(found: list[dict[str, Any]]) -> str:
    """The table and its note, from the stored results."""
    here, versions = found[0]["machine"], dict.fromkeys(line["version"] for line in found if "version" in line)
    note = (
        f"{found[0]['date']}, {here['vcpus']} vCPUs of {here['cpu']} (family {here['family']}, model {here['model']}"
        f"{', virtual' if here['virtualised'] else ''}), load {here['load']:.1f} at the start. {', '.join(versions)}."
    )
    return f"{table(found)}\n\n{note}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], choices=METERS, help="run only these meters")
    run_all(parser.parse_args().only)


if __name__ == "__main__":
    main()
