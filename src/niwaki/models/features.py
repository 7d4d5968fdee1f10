"""Encoded rows with their targets."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.data.ragged import Ragged


@dataclass(frozen=True)
class Features:
    """Encoded rows and their targets: (rows, …), or ragged like the tokens; NO_LABEL marks missing targets."""

    rows: EncodedInputs
    targets: np.ndarray | Ragged

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(rows,) tokens of the longest sequence of each row, input or target."""
        read = self.rows.lengths.reshape(-1, self.rows.group).max(axis=1)
        return np.maximum(read, self.targets.lengths) if isinstance(self.targets, Ragged) else read

    def joined(self, other: "Features") -> "Features":
        if isinstance(self.targets, Ragged) and isinstance(other.targets, Ragged):
            return Features(self.rows.joined(other.rows), self.targets.joined(other.targets))
        return Features(self.rows.joined(other.rows), np.concatenate([self.targets, other.targets]))
