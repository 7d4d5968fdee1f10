"""Kernels of other processors, compiled by a cross compiler and run by an emulator."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engines.native.packing import write_drawn
from niwaki.engines.native.library import FAST

ROOT = Path(__file__).parents[3]
NATIVE = ROOT / "src/niwaki/engines/native/c"
FLAGS = ["-O3", "-std=gnu11", "-fno-math-errno", "-ffp-contract=off", f"-I{NATIVE}"]
CPUS = dict(zip(("max", "neoverse-n1", "cortex-a53"), FAST[-3:], strict=True))  # neon_i8mm, neon_dot, neon
PERTURB = {"MALLOC_PERTURB_": "165"}  # glibc fills memory that it gives out
SEEDS = range(24)


def require(*programs):
    missing = [name for name in programs if not shutil.which(name)]
    if missing:
        pytest.skip(f"{', '.join(missing)}: apt-get install gcc-aarch64-linux-gnu qemu-user emscripten nodejs")


def built(compiler, out, *flags):
    sources = [*sorted(NATIVE.glob("*.c")), ROOT / "tests/engines/native/cross_packed.c"]
    threads = (
        [] if compiler == "emcc" else ["-pthread"]
    )  # workers of node would wait for the thread that waits for them
    subprocess.run([compiler, *FLAGS, *threads, *flags, *map(str, sources), "-o", str(out), "-lm"], check=True)
    return out


def outputs(command, files, **environment):
    done = subprocess.run(
        [*command, *map(str, files)], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    return done.stdout, set(done.stderr.split())


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """Random encoders, packed for ARM, and what four numbers at a time in plain C make of them on this machine."""
    folder = tmp_path_factory.mktemp("packed")
    files = [write_drawn(seed, "arm", folder)[1] for seed in SEEDS]
    here, kernels = outputs([str(built("cc", folder / "here"))], files)
    assert kernels == {"four_in_c"} and len(here.splitlines()) == len(files)
    return files, here


@pytest.mark.slow
def test_arm_kernels_give_the_same_bits_as_c():
    require("aarch64-linux-gnu-gcc", "qemu-aarch64")
    done = subprocess.run(["make", "cross"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "neon_i8mm: the same bits as four_in_c at 300 shapes" in done.stdout


@pytest.mark.slow
def test_networks_give_the_same_bits_on_arm(packed, tmp_path):
    """In any batch, with 1 to 5 threads, on memory that is not 0."""
    require("aarch64-linux-gnu-gcc", "qemu-aarch64")
    files, wanted = packed
    program = built("aarch64-linux-gnu-gcc", tmp_path / "arm")
    for cpu, name in CPUS.items():
        command = ["qemu-aarch64", "-cpu", cpu, "-L", "/usr/aarch64-linux-gnu", str(program)]
        found, kernels = outputs(command, files, **PERTURB)
        assert kernels == {name} and found == wanted
