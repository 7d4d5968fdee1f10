"""The memory of a loaded model after one prediction, measured in a separate process."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from pathlib import Path
import numpy, onnxruntime, tokenizers
from niwaki.engines.engine_choice import random_sequences
from niwaki.engines.predictor import Predictor
from niwaki.models.config_rules import read as read_config

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

start = resident()
predictor = Predictor(Path(sys.argv[1]), threads=1)
predictor.runtime.run(random_sequences(read_config(predictor.folder)), numpy.array([6]), 0)  # one of 32 tokens, or an image
print(resident() - start)
"""
SECONDS = 120


def resident_bytes(folder: Path) -> int | None:
    """The memory that the model and one prediction add to a process with the engine imported; None if it is unknown."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return max(0, int(done.stdout)) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
