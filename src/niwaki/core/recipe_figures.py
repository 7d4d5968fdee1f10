"""What shipped recipes were measured to give: recipes/measured.json, rendered from benchmark records by `make results`."""

import json
from dataclasses import dataclass
from functools import cache

from niwaki.core.recipes import SHIPPED_RECIPES

MEASURED = SHIPPED_RECIPES / "measured.json"


@dataclass(frozen=True)
class Figures:
    """The last model of a recipe compared with its teacher on one task: means over the seeds."""

    task: str
    stage: str  # the measured stage, or the cascade of stages
    seeds: int
    kept: float  # share of the teacher's score
    faster: float  # ratio of the throughputs
    faster_than: str  # what the throughput is compared with
    smaller: float | None = None  # ratio of the sizes; None if not measured
    megabytes: float | None = None

    def short(self) -> str:
        size = f", {self.smaller:.0f}× smaller" if self.smaller else ""
        return f"{self.kept:.1%} kept{size}, {self.faster:.0f}× faster"

    def sentence(self) -> str:
        size = f", {self.smaller:.1f}× smaller ({self.megabytes:.1f} MB)" if self.smaller else ""
        seeds = f"{self.seeds} seed{'s' if self.seeds > 1 else ''}"
        return f"{self.task}, {self.stage}: {self.kept:.1%} of the teacher's score{size}, {self.faster:.1f}× faster than {self.faster_than} ({seeds})"


@cache
def measured_figures() -> dict[str, list[Figures]]:
    """Recipe → figures, the task with the most seeds first."""
    stored = json.loads(MEASURED.read_text(encoding="utf-8"))
    return {recipe: [Figures(**entry) for entry in entries] for recipe, entries in stored.items()}
