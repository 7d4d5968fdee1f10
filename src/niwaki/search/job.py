"""What every step of a search reads, and the stages of its recipes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from niwaki.compression.judge import cached_stats
from niwaki.core.files import folder_bytes
from niwaki.core.json_types import Json
from niwaki.core.log import silenced
from niwaki.core.model_integrity import MODEL
from niwaki.engines.engine_choice import usable_engines
from niwaki.meter import Window
from niwaki.meter.ledger import Attempt, Ledger
from niwaki.models.stock import WEIGHTS
from niwaki.run.plan import Plan, make_plan
from niwaki.run.recipe_settings import Recipe
from niwaki.run.runner import result_of, run_stage
from niwaki.run.search_settings import SearchSettings
from niwaki.run.stages_only import needed_stages
from niwaki.search.points import copy_name
from niwaki.search.space import Space
from niwaki.tasks._task import Task


@dataclass(frozen=True)
class Variant:
    """A finished stage as one model in one number format and engine, and its answers to the validation rows."""

    kind: str  # float, int8 or 4bit
    engine: str
    key: str
    model: Path
    score: float
    bytes: int
    flops: int

    @property
    def label(self) -> str:
        return f"{self.kind}/{self.engine}"


@dataclass(frozen=True)
class SearchJob:
    space: Space
    settings: SearchSettings
    folder: Path
    task: Task
    seed: int
    window: Callable[[], Window]
    should_stop: Callable[[], bool]
    finished: set[str] = field(default_factory=set)  # keys of stages that are known to be there

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.jsonl")

    def plan(self, recipe: Recipe) -> Plan:
        with silenced():  # its remarks are the same for every point
            return make_plan(recipe, self.folder.name)

    def make(self, plan: Plan, stage: str) -> None:
        """Makes a stage and what it depends on, unless they are there or in the stage store."""
        for needed in needed_stages(plan, stage):
            if needed.key not in self.finished:
                run_stage(plan, needed, self.folder, self.ledger, self.should_stop)
                self.finished.add(needed.key)

    def charged(self, what: str) -> Attempt:
        return self.ledger.begin(stage=what, what="evaluate", window=self.window())

    def score(self, plan: Plan, stage: str, engine: str = "") -> float:
        """The primary metric of a finished stage on the validation rows."""
        planned = plan.stage(stage)
        model = self.folder / planned.folder / MODEL
        used = engine or usable_engines(model)[0]
        stats = cached_stats(self.folder / "validation" / f"{planned.key}-{used}.npy", model, self.task, used)
        return self.task.scorer.scores(stats)[self.task.metric]

    def variants(self, plan: Plan, stage: str, kinds: Sequence[str]) -> list[Variant]:
        """A finished stage and its copies, in every engine that is searched and can run them."""
        found = []
        for kind in kinds:
            planned = plan.stage(copy_name(stage, kind))
            model = self.folder / planned.folder / MODEL
            size, result = folder_bytes(model), result_of(self.folder / planned.folder)
            for engine in self.engines(model):
                score = self.score(plan, planned.name, engine)
                found.append(Variant(kind, engine, planned.key, model, score, size, int(result["flops"])))
        return found

    def engines(self, model: Path) -> list[str]:
        """The engines to try for a model; the one that is preferred if it runs in none of these."""
        usable = usable_engines(model)
        return [name for name in self.settings.engines if name in usable] or usable[:1]

    def others(self, plan: Plan) -> int:
        """Bytes of the source's folder that are not weights."""
        model = self.folder / plan.stage(self.space.source).folder / MODEL
        return folder_bytes(model) - (model / WEIGHTS).stat().st_size


def to_json(variant: Variant, folder: Path) -> Json:
    """Without machine paths: the model's folder is relative to that of the search."""
    return {
        "format": variant.kind,
        "engine": variant.engine,
        "key": variant.key,
        "model": variant.model.relative_to(folder).as_posix(),
        "score": variant.score,
        "bytes": variant.bytes,
        "flops": variant.flops,
    }
