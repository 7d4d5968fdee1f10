"""Runs a recipe: every stage that is not there yet, then the race between them and the report."""

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from niwaki import report
from niwaki.core.errors import Refused
from niwaki.core.files import fault_in, read_json, sweep, write_json, write_text
from niwaki.core.lock import locked
from niwaki.core.log import say
from niwaki.core.signals import stopping
from niwaki.meter.ledger import Ledger
from niwaki.run.comparing import comparisons
from niwaki.run.plan import Plan, PlannedStage, make_plan
from niwaki.run.recipe import Recipe, to_toml
from niwaki.train.loop import Interrupted

RACE_TEXTS = 192  # the fastest model still takes the 50 ms that a lap should last
Stop = Callable[[], bool]


def execute(recipe: Recipe, name: str, folder: Path) -> dict[str, Any]:
    """Fills `folder` and returns the content of its report.json."""
    quiet_libraries()
    with locked(folder), stopping() as should_stop:
        plan = make_plan(recipe, name)
        (folder / "stages").mkdir(exist_ok=True)
        for place in (folder, folder / "stages", folder / "cache"):
            sweep(place)
        write_text(folder / "recipe.toml", to_toml(recipe))
        write_json(folder / "plan.json", plan.to_json())
        ledger = Ledger(folder / "ledger.jsonl")
        for one in (plan, *plan.repeats):
            for stage in one.stages:
                run_stage(one, stage, folder, ledger, should_stop)
        stop_if_asked(should_stop)
        rungs = [plan.task.fingerprint(), plan.recipe.model, plan.recipe.vectors]
        once(folder / "baseline.json", rungs, lambda: run_baseline(plan, folder, ledger))
        stop_if_asked(should_stop)
        keys = [stage.key for one in (plan, *plan.repeats) for stage in one.stages]
        once(folder / "comparisons.json", [rungs, keys], lambda: comparisons(plan, folder))
        once(folder / "speed.json", [stage.key for stage in plan.stages], lambda: run_race(plan, folder, ledger))
        return report.write(folder)


def run_stage(plan: Plan, stage: PlannedStage, folder: Path, ledger: Ledger, should_stop: Stop) -> None:
    """Makes the stage unless it is there and sound."""
    from niwaki.run.stage import StageMaker

    stop_if_asked(should_stop)
    target = folder / stage.folder
    if target.exists():
        fault = fault_in(target)
        if fault is None:
            say(f"{stage.spec.name}: there already")
            return
        say(f"{fault}; the stage is made again")
        shutil.rmtree(target)
    with ledger.begin(
        stage=stage.spec.name,
        key=stage.key,
        what="train" if stage.spec.train else "make",
        window=plan.recipe.meter.window(),
    ) as attempt:
        StageMaker(plan, stage, folder, attempt, should_stop).make()


def stop_if_asked(should_stop: Stop) -> None:
    if should_stop():
        raise Interrupted


def once(path: Path, inputs: Any, make: Callable[[], dict[str, Any]]) -> None:
    """Writes what `make` gives, unless the file is there, sound, and was made from the same inputs."""
    with contextlib.suppress(Refused, AttributeError):
        if read_json(path).get("inputs") == inputs:
            return
    write_json(path, {**make(), "inputs": inputs})


def run_baseline(plan: Plan, folder: Path, ledger: Ledger) -> dict[str, Any]:
    import numpy as np

    from niwaki.evaluate.ladder import climb

    with ledger.begin(stage="baseline", what="evaluate", window=plan.recipe.meter.window()):
        told, outcomes = climb(plan.task, plan.model_folder, plan.recipe.meter.window, plan.recipe.vectors)
    np.save(folder / "baseline.npy", outcomes, allow_pickle=False)
    return told


def run_race(plan: Plan, folder: Path, ledger: Ledger) -> dict[str, Any]:
    """All stages and the reference on the same texts, in turns."""
    from niwaki.engines.predictor import Predictor
    from niwaki.evaluate.reference import BATCH, DESCRIPTION, Reference
    from niwaki.evaluate.speed import race

    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, RACE_TEXTS))
    reference = Reference(folder / plan.stages[0].folder / "model", plan.task.max_tokens)
    contenders: dict[str, Any] = {"reference": reference.values}
    for stage in plan.stages:
        contenders[stage.spec.name] = Predictor(folder / stage.folder / "model").values
    with ledger.begin(stage="race", what="speed", window=plan.recipe.meter.window()):
        return race(contenders, texts, reference="reference", window=plan.recipe.meter.window) | {
            "batch": BATCH,
            "description": DESCRIPTION,
        }


def quiet_libraries() -> None:
    """Their progress bars and load reports would drown ours."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
