"""Runs a recipe: every stage that is not there yet, then the race between them and the report."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from niwaki import report
from niwaki.core.errors import Refused
from niwaki.core.files import (
    fault_in,
    fingerprint,
    read_json,
    require_memory,
    require_space,
    require_writable,
    sha256,
    sweep,
    write_json,
    write_text,
)
from niwaki.core.lock import locked
from niwaki.core.log import say
from niwaki.core.signals import stopping
from niwaki.meter.ledger import Ledger
from niwaki.models.model import WEIGHTS
from niwaki.run.comparing import comparisons
from niwaki.run.plan import Plan, PlannedStage, digest_of, make_plan
from niwaki.run.recipe import Recipe, to_toml
from niwaki.run.texts import cache_folder, refuse_cache
from niwaki.train.loop import Interrupted

RACE_TEXTS = 192  # the fastest model still takes the 50 ms that a lap should last
BASELINES = 2  # raised when the same rows and model give other baselines
ON_DISK, IN_MEMORY = 8, 5  # times the weights while training: two states; weights, gradients, two moments and the best
Stop = Callable[[], bool]


def execute(recipe: Recipe, name: str, folder: Path) -> dict[str, Any]:
    """Fills `folder` and returns the content of its report.json."""
    refuse_several_processes()
    require_writable(folder)
    quiet_libraries()
    with locked(folder), stopping() as should_stop:
        plan = make_plan(recipe, name)
        require_room(plan, folder)
        if any(stage.spec.teachers for stage in plan.stages):
            refuse_cache(cache_folder(recipe.cache, folder))
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
        rungs = [BASELINES, plan.task.fingerprint(), digest_of(plan.model_folder), plan.recipe.vectors]
        once(folder / "baseline.json", rungs, lambda: run_baseline(plan, folder, ledger), beside=["baseline.npy"])
        stop_if_asked(should_stop)
        keys = [stage.key for one in (plan, *plan.repeats) for stage in one.stages]
        once(folder / "comparisons.json", [rungs, keys], lambda: comparisons(plan, folder))
        once(folder / "speed.json", [stage.key for stage in plan.stages], lambda: run_race(plan, folder, ledger))
        name_uncounted(ledger, [stage.spec.name for stage in plan.stages])
        return report.write(folder)


def name_uncounted(ledger: Ledger, stages: list[str]) -> None:
    for name in uncounted(ledger, [*stages, "baseline", "race"]):
        say(f"{ledger.path}: has no charge for '{name}', whose result is there; what it took is not in the sums")


def uncounted(ledger: Ledger, names: list[str]) -> list[str]:
    """What is made and in no line of the ledger: it was cut short, or results were brought from elsewhere."""
    charged = {line["stage"] for line in ledger.lines()}
    return [name for name in names if name not in charged]


def run_stage(plan: Plan, stage: PlannedStage, folder: Path, ledger: Ledger, should_stop: Stop) -> None:
    """Makes the stage unless it is there and sound."""
    from niwaki.run.stage import StageMaker

    stop_if_asked(should_stop)
    target = folder / stage.folder
    if target.exists():
        fault = fault_in_stage(target, stage.key)
        if fault is None:
            say(f"{stage.spec.name}: there already")
            shutil.rmtree(
                target.with_name(f".work-{target.name}"), ignore_errors=True
            )  # a kill came before it was gone
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


def fault_in_stage(target: Path, key: str) -> str | None:
    """Why a stage's folder cannot be used: it is damaged, or another stage's that was put in its place."""
    fault = fault_in(target)
    if fault is not None:
        return fault
    said = read_json(target / "result.json")["key"]
    return None if said == key else f"{target}: holds another stage"


def refuse_several_processes() -> None:
    """Their results would differ from those of one, under the same key, and each would write over the other's."""
    count = os.environ.get("WORLD_SIZE", "1")
    if count.isdigit() and int(count) > 1:
        raise Refused(
            f"a run is one process, and a launcher (torchrun, accelerate) started {count}; "
            "start `niwaki run` by itself, it uses all cores"
        )


def require_room(plan: Plan, folder: Path) -> None:
    """Before the first step: write permission, disk for all that is missing, memory for what training surely takes."""
    for place in (folder, folder / "stages", folder / "cache"):
        require_writable(place)
    stages = [stage for one in (plan, *plan.repeats) for stage in one.stages]
    missing = [stage for stage in stages if not (folder / stage.folder).exists()]
    trains = any(stage.spec.train for stage in missing)
    weights = (plan.largest / WEIGHTS).stat().st_size
    require_space(folder, weights * (len(missing) + ON_DISK * trains), "this run")
    require_memory(
        weights * (1 + (IN_MEMORY - 1) * trains + max((len(stage.spec.teachers) for stage in missing), default=0)),
        "this run",
    )


def stop_if_asked(should_stop: Stop) -> None:
    if should_stop():
        raise Interrupted


def once(path: Path, inputs: Any, make: Callable[[], dict[str, Any]], beside: Sequence[str] = ()) -> None:
    """Writes what `make` gives, unless the file is there, sound, and was made from the same inputs. `beside` are files that
    `make` writes next to it."""
    if path.exists():
        fault = fault_in_measurement(path)
        if fault is None and read_json(path)["inputs"] == inputs:
            return
        if fault is not None:
            say(f"{fault}; it is made again")
    made = {**make(), "inputs": inputs, "beside": {name: sha256(path.parent / name) for name in beside}}
    write_json(path, {**made, "digest": digest(made)})


def fault_in_measurement(path: Path) -> str | None:
    try:
        told = read_json(path)
        content = {key: value for key, value in told.items() if key != "digest"}
        if told["digest"] != digest(content):
            return f"{path}: is not what was saved (damaged or changed since)"
        wrong = [name for name, said in told["beside"].items() if sha256(path.with_name(name)) != said]
    except Refused as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: cannot be read ({error.strerror})"
    except (KeyError, TypeError, AttributeError):
        return f"{path}: is not what was saved (damaged or changed since)"
    return f"{path.with_name(wrong[0])}: is not what was saved (damaged or changed since)" if wrong else None


def digest(value: Any) -> str:
    """Of what reading the file gives: keys are texts by then, which sort in another order than numbers."""
    return fingerprint(json.loads(json.dumps(value)))


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
    from niwaki.evaluate.reference import BATCH, Reference
    from niwaki.evaluate.resident import resident_bytes
    from niwaki.evaluate.speed import race

    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, RACE_TEXTS))
    reference = Reference(folder / plan.stages[0].folder / "model", plan.task.max_tokens)
    contenders: dict[str, Any] = {"reference": reference.values}
    for stage in plan.stages:
        contenders[stage.spec.name] = Predictor(folder / stage.folder / "model").values
    with ledger.begin(stage="race", what="speed", window=plan.recipe.meter.window()):
        told = race(contenders, texts, reference="reference", window=plan.recipe.meter.window)
        for stage in plan.stages:
            told["contenders"][stage.spec.name]["memory"] = resident_bytes(folder / stage.folder / "model")
    return told | {"batch": BATCH, "description": reference.description}


def quiet_libraries() -> None:
    """Their progress bars and load reports would drown ours."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
