"""Start-up, size and latency of packed models, and instructions of the ARM kernels: `python benchmarks/portable.py FOLDER`.

FOLDER is a model with native.json, e.g. the int8 student of a run. Processes are started in turns, caches of files are warm. Needs a C compiler; without
the aarch64 compiler, instructions are not counted. Appends a record to results/portable.jsonl.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from records import append, circumstances

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "src/niwaki/engines/native"
STARTS, REQUESTS = 9, 1500
TEXT = "a film to see twice, and to think about on the way home"
FLAGS = ["-O3", "-std=gnu11", "-fno-math-errno", "-ffp-contract=off", f"-I{NATIVE / 'c'}"]
PRODUCTS = {"usmmla": 32, "sdot": 16, "smull": 8, "smull2": 8, "mul": 1, "madd": 1}  # of bytes, for each instruction
LOAD = "import niwaki, sys; niwaki.load(sys.argv[1], engine='native').predict([sys.argv[2]])"


def main(model: str) -> None:
    from niwaki.engines.native.packed_file import pack

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        packed = folder / "model.niwaki"
        pack(Path(model), packed)
        program = folder / "predict"
        sources = [str(ROOT / "examples/c/predict.c"), *map(str, (NATIVE / "c").glob("*.c"))]
        subprocess.run(["cc", *FLAGS, *sources, "-lm", "-lpthread", "-o", str(program)], check=True)
        wheel = subprocess.run([sys.executable, str(ROOT / "tools/predict_package.py"), "--out", temporary], check=True)
        assert wheel.returncode == 0
        record = {
            "weights_bytes": (Path(model) / "model.safetensors").stat().st_size,
            "packed_bytes": packed.stat().st_size,
            "wheel_bytes": next(folder.glob("*.whl")).stat().st_size,
            "start_ms": starts(
                {
                    "C program": [str(program), str(packed), TEXT],
                    "niwaki-predict": [sys.executable, "-I", "-S", str(NATIVE / "packed.py"), str(packed), TEXT],
                    "niwaki.load in Python": [sys.executable, "-c", LOAD, model, TEXT],
                    "niwaki predict": [sys.executable, "-m", "niwaki", "predict", model, TEXT, "--engine", "native"],
                }
            ),
            "latency_ms": {
                name: latency(packed, busy)
                for name, busy in (("alone", 0), ("beside a busy process for each core", os.cpu_count() or 1))
            },
            "arm": arm_loops(folder),
        }
    append("portable", {**record, "load": os.getloadavg()[0], **circumstances()})


def starts(commands: dict[str, list[str]]) -> dict[str, list[float]]:
    """Milliseconds from the start of a process to its end, in turns."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
            found[name].append((time.perf_counter() - began) * 1e3)
    return found


def latency(packed: Path, busy: int) -> dict[str, float]:
    """Single requests of one thread, text to answer."""
    from niwaki.engines.native.packed import Packed

    neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    try:
        model, found = Packed(packed), []
        for _ in range(REQUESTS):
            began = time.perf_counter()
            model.predict(TEXT)
            found.append((time.perf_counter() - began) * 1e3)
            time.sleep(0.001)
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    assert threading.active_count() == 1
    return {name: float(np.percentile(found[50:], part)) for name, part in (("p50", 50), ("p99", 99))}


def arm_loops(folder: Path) -> dict[str, dict[str, float]]:
    """The loop with the most products of bytes for each instruction, of each set of kernels as compiled."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    found = {}
    for name in ("plain", "neon", "neon_dot", "neon_i8mm") if compiler else ():
        subprocess.run(
            [str(compiler), *FLAGS, "-c", str(NATIVE / f"c/{name}.c"), "-o", str(folder / "kernels.o")], check=True
        )
        listing = subprocess.run(
            ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", str(folder / "kernels.o")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found[name] = max(
            (
                loop
                for body in re.findall(r"<(?:whole|float)_stripe\w*>:\n(.*?)(?:\n\n|$)", listing, re.S)
                for loop in loops(body)
                if loop["products"]
            ),
            key=lambda loop: loop["products"] / loop["instructions"],
            default={},
        )
    return found


def loops(body: str) -> list[dict[str, float]]:
    """Innermost loops: jumps back over no other."""
    lines = [match.groups() for match in re.finditer(r"^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", body, re.M)]
    places, found, last = {int(place, 16): number for number, (place, _, _) in enumerate(lines)}, [], -1
    for number, (place, name, rest) in enumerate(lines):
        target = re.search(r"\b([0-9a-f]+) <", rest) if name.startswith(("b.", "cb", "tb")) else None
        start = places.get(int(target[1], 16), number) if target else number
        if start < number and int(place, 16) > int(lines[start][0], 16):
            if start > last:
                names = Counter(name for _, name, _ in lines[start : number + 1])
                products = sum(each * names[name] for name, each in PRODUCTS.items())
                found.append({"instructions": number + 1 - start, "products": products})
            last = number
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
