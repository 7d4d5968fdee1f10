"""Which trials end early: after each part of the last training, those in the worse half so far (successive halving).

Paper: Li et al. 2020, A System for Massively Parallel Hyperparameter Tuning (arXiv 1810.05934): a trial is compared with all before it.
"""

import statistics
from collections.abc import Sequence

from niwaki.core.json_types import Json


def expected_gain(earlier: Sequence[Json], part: int) -> float:
    """How much the share of the source's score usually grows from this part of the training to its end; 0 if nothing is known."""
    gains = [
        trial["part_scores"][-1] - trial["part_scores"][part]
        for trial in earlier
        if len(trial.get("part_scores", ())) > part + 1
    ]
    return statistics.median(gains) if gains else 0.0


def losses_at(earlier: Sequence[Json], part: int) -> list[float]:
    """The losses of earlier trials at a part of their training."""
    return [trial["part_losses"][part] for trial in earlier if len(trial.get("part_losses", ())) > part]


def promoted(value: float, earlier: Sequence[float]) -> bool:
    """Whether a trial continues: its loss is in the better half of all at this part so far."""
    ranked = sorted([*earlier, value])
    return value <= ranked[max(1, len(ranked) // 2) - 1] or not earlier
