"""Tiny models and rows of the tests, for benchmarks."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny

__all__ = ["tiny"]
