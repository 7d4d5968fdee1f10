"""What a runtime must do: rows of token ids in, logits out."""

from pathlib import Path

import numpy as np

Rows = list[list[int]]


class Runtime:
    """Base of the files in `runtimes/`. May be called from several threads at once."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder = folder
        self.threads = threads

    @classmethod
    def fault(cls, folder: Path) -> str | None:
        """Why this runtime cannot serve the folder, or None."""
        return None

    def logits(self, ids: np.ndarray, mask: np.ndarray, types: np.ndarray) -> np.ndarray:
        """(batch, tokens) integers each, to (batch, labels), or (batch, tokens, labels) from heads per token."""
        raise NotImplementedError
