"""Runs the stages that the last stage of a recipe needs and nothing else: no baselines, comparisons, speed race or report."""

from pathlib import Path

from niwaki.core.lock import locked
from niwaki.core.model_integrity import MODEL
from niwaki.core.signals import stopping
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import Plan, PlannedStage, make_plan
from niwaki.run.recipe_settings import Recipe
from niwaki.run.room import require_room
from niwaki.run.runner import check_processes, quiet_libraries, run_stage, stages_read


def run_stages(recipe: Recipe, folder: Path) -> Path:
    """The folder of the last stage's model, below `folder`."""
    check_processes()
    quiet_libraries()
    with locked(folder), stopping() as should_stop:
        plan = make_plan(recipe, folder.name)
        require_room(plan, folder)
        ledger = Ledger(folder / "ledger.jsonl")
        for stage in needed_stages(plan):
            run_stage(plan, stage, folder, ledger, should_stop)
    return folder / plan.stages[-1].folder / MODEL


def needed_stages(plan: Plan, last: str = "") -> list[PlannedStage]:
    """A stage, by default the last of the plan, and the stages that it depends on: parents, teachers, and stages that methods read."""
    needed = {last or plan.stages[-1].name}
    for stage in reversed(plan.stages):
        if stage.name in needed:
            needed |= stages_read(stage)
    return [stage for stage in plan.stages if stage.name in needed]
