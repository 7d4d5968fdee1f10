"""Kernels of other processors, compiled by a cross compiler and run by an emulator."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_arm_kernels_give_the_same_bits_as_c():
    if not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64")):
        pytest.skip("apt-get install gcc-aarch64-linux-gnu qemu-user")
    done = subprocess.run(["make", "cross"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "neon_i8mm: the same bits as four_in_c at 300 shapes" in done.stdout
