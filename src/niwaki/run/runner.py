"""Runs a recipe: makes the missing stages, runs baselines, comparisons and the speed race, and writes the report."""

import math
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from niwaki import report
from niwaki.core.documents import read_document, write_document
from niwaki.core.errors import InputError
from niwaki.core.files import (
    fingerprint,
    read_json,
    remove_leftovers,
    require_writable,
    write_text,
)
from niwaki.core.json_types import Json
from niwaki.core.lock import locked
from niwaki.core.log import info
from niwaki.core.model_integrity import PLAN, RESULT
from niwaki.core.run_folder import RECIPE, REPORT, fault_in_measurement, fault_in_report, fault_in_stage
from niwaki.core.signals import stopping
from niwaki.meter.ledger import Ledger
from niwaki.methods._method import ReadsStages, methods_with
from niwaki.run import processes
from niwaki.run.comparisons import comparisons
from niwaki.run.launcher import check_stages, reported_once, started
from niwaki.run.plan import Plan, PlannedStage, make_plan, model_digest, versions
from niwaki.run.recipe import to_toml
from niwaki.run.recipe_settings import Recipe
from niwaki.run.room import require_room
from niwaki.run.run_cascade import CASCADE_FILE, cascade_inputs, cascade_of_run, discard_other_cascade
from niwaki.run.stage import make_stage
from niwaki.run.stage_store import store_of
from niwaki.run.steps.job import StageJob
from niwaki.run.unlabelled_texts import cache_folder
from niwaki.run.validation.cache import check_cache_folder
from niwaki.train.loop import Interrupted

BASELINES, RACE = 2, 2  # versions; raised when baselines or the race change for the same inputs
WAIT_SECONDS = 0.5  # between looks at stages that other runs make
Stop = Callable[[], bool]


def execute(recipe: Recipe, name: str, folder: Path, deadline: float = math.inf, stages_only: bool = False) -> Json:
    """Fills `folder` and returns the content of its report.json; with `stages_only`, {} after the last stage. At the deadline, a value of
    time.monotonic(), the work is saved and Interrupted is raised."""
    check_processes()
    require_writable(folder)
    quiet_libraries()
    with locked(folder), stopping() as requested:

        def should_stop() -> bool:
            return requested() or time.monotonic() > deadline

        plan = make_plan(recipe, name)
        check_stages(plan)
        require_room(plan, folder)
        if any(stage.spec.teachers for stage in plan.stages):
            check_cache_folder(cache_folder(recipe.cache, folder))
        (folder / "stages").mkdir(exist_ok=True)
        for place in (folder, folder / "stages", folder / "cache"):
            remove_leftovers(place)
        store_of(recipe, folder).prune()
        write_text(folder / RECIPE, to_toml(recipe))
        needs = inputs(plan)
        write_plan(plan, needs, folder)
        ledger = Ledger(folder / "ledger.jsonl")
        make_stages(plan, folder, ledger, should_stop)
        stop_if_requested(should_stop)
        if stages_only:
            return {}
        if recipe.baselines:
            once(folder / "baseline.json", needs, lambda: run_baseline(plan, folder, ledger), ["baseline.npy"])
            stop_if_requested(should_stop)
        once(folder / "comparisons.json", needs, lambda: comparisons(plan, folder))
        once(folder / "speed.json", needs, lambda: measured_speed(plan, folder, ledger))
        discard_other_cascade(folder, needs)
        if recipe.cascade:
            once(folder / CASCADE_FILE, needs, lambda: cascade_of_run(plan, folder, ledger))
        measured = ["baseline", "race"] if recipe.baselines else ["race"]
        warn_uncounted(ledger, [*(stage.spec.name for stage in plan.stages), *measured])
        discard_unsound_report(folder)
        return report.write(folder)


def write_plan(plan: Plan, needs: Json, folder: Path) -> None:
    """Writes plan.json with digests of the inputs of every measurement, so that readers can match them. Other processes then read the recipe."""
    digests = {name: fingerprint(value) for name, value in needs.items()}
    write_document(folder / PLAN, {**plan.to_json(), "inputs": digests}, [RECIPE])
    if group := processes.current():
        group.announce_plan(plan, folder)


def inputs(plan: Plan) -> Json:
    """What each measurement of a run depends on. It is measured again when its inputs change."""
    baselines = [BASELINES, plan.task.data.fingerprint(), model_digest(plan.model_folder), plan.recipe.vectors]
    stages = [stage.key for stage in plan.stages]
    if plan.task.answer == "likelihood":  # these read the tokenizer of the last stage
        baselines.append(stages[-1])
    every = [stage.key for one in (plan, *plan.repeats) for stage in one.stages]
    cascade = {CASCADE_FILE: cascade_inputs(plan)} if plan.recipe.cascade else {}
    return {
        **cascade,
        "baseline.json": baselines,
        "comparisons.json": [baselines, every],
        "speed.json": [RACE, plan.recipe.race, stages],
    }


def discard_unsound_report(folder: Path) -> None:
    """Removes a report that was edited, or whose ledger lost lines, with a message; a new one is written afterwards."""
    if fault := fault_in_report(folder, read_document(folder / PLAN)):
        info(f"{fault.partition('; ')[0]}; the report is written again")
        (folder / REPORT).unlink()


def warn_uncounted(ledger: Ledger, names: list[str]) -> None:
    for name in uncounted(ledger, names):
        info(f"{ledger.path}: has no charge for '{name}', whose result exists; its cost is missing from the totals")


def uncounted(ledger: Ledger, names: list[str]) -> list[str]:
    """Finished work without a charge in the ledger, which was truncated or belongs to another run."""
    charged = {line["stage"] for line in ledger.lines()}
    return [name for name in names if name not in charged]


def run_stage(
    plan: Plan, stage: PlannedStage, folder: Path, ledger: Ledger, should_stop: Stop, wait: bool = True
) -> bool:
    """Makes the stage, unless this run or the stage store has a sound copy of it. False if another run makes it, and `wait` is not set."""
    stop_if_requested(should_stop)
    target, store = folder / stage.folder, store_of(plan.recipe, folder)
    if target.exists():
        fault = fault_in_stage(target, stage.key, unlisted=False)
        if fault is None:
            info(f"{stage.name}: there already{other_versions(target)}")
            shutil.rmtree(folder / stage.work_folder, ignore_errors=True)  # left by a kill after the commit
            store.offer(stage.key, target)
            return True
        info(f"{fault}; the stage is made again")
        shutil.rmtree(target)
    with store.reserved(stage.key, stage.name, should_stop, wait) as held:
        if not held:
            return False
        if stage.key in store:
            with ledger.begin(stage=stage.name, key=stage.key, what="reuse", window=plan.recipe.meter.window()):
                reused = store.take(stage.key, stage.name, target)
            if reused:
                shutil.rmtree(folder / stage.work_folder, ignore_errors=True)
                info(f"{stage.name}: taken from another run{other_versions(target)}")
                return True
        what = "train" if stage.spec.train else "make"
        count = {"processes": started()} if started() > 1 else {}
        window = plan.recipe.meter.window()
        with ledger.begin(stage=stage.name, key=stage.key, what=what, window=window, **count) as attempt:
            if group := processes.current():
                attempt.with_others = group.with_others
            make_stage(StageJob(plan, stage, folder, attempt, should_stop))
        store.add(stage.key, target)
    return True


def make_stages(plan: Plan, folder: Path, ledger: Ledger, should_stop: Stop) -> None:
    """All stages with all seeds. Runs that share a stage store divide the work: each takes the first stage whose inputs it has and that
    no other run is making. The lock of a stage ends with its process, so another run makes what a killed one left."""
    pending = [(seeded, stage) for seeded in (plan, *plan.repeats) for stage in seeded.stages]
    waits = False
    while pending:
        missing = {(seeded.recipe.seed, stage.spec.name) for seeded, stage in pending}
        for place, (seeded, stage) in enumerate(pending):
            inputs = {(seeded.recipe.seed, name) for name in stages_read(stage)}
            if not inputs & missing and run_stage(seeded, stage, folder, ledger, should_stop, wait=False):
                del pending[place]
                break
        else:
            if not waits:
                info(
                    f"{len(pending)} stages are left, and other runs make those that can be made now; waiting for them"
                )
            waits = True
            stop_if_requested(should_stop)
            time.sleep(WAIT_SECONDS)


def stages_read(stage: PlannedStage) -> set[str]:
    """The stages whose models a stage needs: parent, teachers, and those that methods read."""
    read = [name for method in methods_with(stage.methods, ReadsStages) for name in method.stages]
    return {name for name in (stage.parent or "", *stage.spec.teachers, *read) if name}


def result_of(stage: Path) -> Json:
    """The result of a stage that `run_stage` has made or verified."""
    return dict(read_json(stage / RESULT))


def other_versions(stage: Path) -> str:
    """The package versions that made a finished stage, if they differ from the installed ones. The record is never rewritten."""
    recorded, now = read_json(stage / RESULT).get("versions", {}), versions()
    changed = [f"{name} {before} (now {now.get(name)})" for name, before in recorded.items() if before != now.get(name)]
    return (
        f", made with {', '.join(changed)}; it is used as it is, and its record of versions is kept" if changed else ""
    )


@reported_once()
def check_processes() -> None:
    """Several processes that do not know of each other would overwrite each other's files."""
    if started() > 1 and processes.current() is None:
        raise InputError(
            f"a launcher (torchrun, accelerate) started {started()} processes, and only `niwaki run` shares its work among them; "
            "start this command by itself, it uses all cores"
        )


def stop_if_requested(should_stop: Stop) -> None:
    if should_stop():
        raise Interrupted


def once(path: Path, needs: Json, make: Callable[[], Json], files: Sequence[str] = ()) -> None:
    """Writes the result of `make`, unless the file is sound and has the same inputs. `make` also writes `files`."""
    wanted = needs[path.name]
    if path.exists():
        fault = fault_in_measurement(path)
        if fault is None and read_document(path).get("inputs") == wanted:
            return
        if fault is not None:
            info(f"{fault}; it is computed again")
    write_document(path, {**make(), "inputs": wanted, "versions": versions()}, files)


def run_baseline(plan: Plan, folder: Path, ledger: Ledger) -> Json:
    import numpy as np

    from niwaki.evaluate.baseline import run_baselines

    with ledger.begin(stage="baseline", what="evaluate", window=plan.recipe.meter.window()):
        is_language_model = plan.task.answer == "likelihood"
        model = folder / plan.stages[-1].folder / "model" if is_language_model else plan.model_folder
        result, example_stats = run_baselines(plan.task, model, plan.recipe.meter.window, plan.recipe.vectors)
    np.save(folder / "baseline.npy", example_stats, allow_pickle=False)
    return result


def measured_speed(plan: Plan, folder: Path, ledger: Ledger) -> Json:
    from niwaki.run.race import run_race

    with ledger.begin(stage="race", what="speed", window=plan.recipe.meter.window()):
        return run_race(plan, folder)


def quiet_libraries() -> None:
    """Turns off the progress bars and load reports of transformers."""
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
