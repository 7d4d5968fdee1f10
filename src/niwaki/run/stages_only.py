"""Runs the stages of a recipe and nothing else: no baselines, comparisons, speed race or report."""

from pathlib import Path

from niwaki.core.lock import locked
from niwaki.core.model_integrity import MODEL
from niwaki.core.signals import stopping
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import make_plan
from niwaki.run.recipe_settings import Recipe
from niwaki.run.runner import check_single_process, quiet_libraries, require_room, run_stage


def run_stages(recipe: Recipe, folder: Path) -> Path:
    """The folder of the last stage's model, below `folder`."""
    check_single_process()
    quiet_libraries()
    with locked(folder), stopping() as should_stop:
        plan = make_plan(recipe, folder.name)
        require_room(plan, folder)
        ledger = Ledger(folder / "ledger.jsonl")
        for stage in plan.stages:
            run_stage(plan, stage, folder, ledger, should_stop)
    return folder / plan.stages[-1].folder / MODEL
