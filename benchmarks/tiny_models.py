"""What benchmarks borrow from the tests: tiny models with a tokenizer and rows of their own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import tiny

__all__ = ["tiny"]
