"""Jobs of benchmarks that train models: selecting jobs, running their stages, comparing results with the teacher."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from method_names import current
from records import append, circumstances, read

from niwaki.core.files import read_json
from niwaki.core.lock import locked
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.speed import race
from niwaki.meter.ledger import Ledger
from niwaki.run.plan import Plan, PlannedStage
from niwaki.run.runner import quiet_libraries, run_stage

RACE_TEXTS = 96
SPENT = ("seconds", "cpu_seconds", "joules", "tier")


def main(
    about: str | None,
    name: str,
    keys: tuple[str, ...],
    jobs: Iterable[tuple[Any, ...]],
    run: Callable[..., dict[str, Any]],
    **options: str,
) -> None:
    """Runs the jobs that the command line names and that have no record in `name` yet. A job is a tuple of values of `keys`; its
    name joins them with slashes, and a prefix selects several. `options` are further command-line options with their help
    text, passed on to `run`."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*", help="/".join(keys) + ", or a prefix of it; all jobs by default")
    parser.add_argument("--list", action="store_true", help="list the jobs")
    parser.add_argument("--again", action="store_true", help="repeat recorded jobs; the newest record counts")
    for option, meaning in options.items():
        parser.add_argument(f"--{option}", default="", help=meaning)
    arguments = parser.parse_intermixed_args()
    values = {option: getattr(arguments, option) for option in options}
    known = {"/".join(map(str, job)): job for job in jobs}
    selected = [
        job for job in known if not arguments.names or any(f"{job}/".startswith(f"{name}/") for name in arguments.names)
    ]
    if arguments.list:
        print("\n".join(selected))
        return
    quiet_libraries()
    done = set() if arguments.again else {"/".join(current(str(row[key])) for key in keys) for row in read(name)}
    for job in selected:
        if job not in done:
            append(name, {**run(*known[job], arguments.data, **values), **circumstances()})


def home(task: str, seed: int) -> Path:
    """The folder of a task and seed, shared by benchmarks."""
    return Path("runs") / f"distil-{task}-{seed}"


def make(plan: Plan, folder: Path) -> None:
    with locked(folder):
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        for stage in plan.stages:
            run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)


def both(plan: Plan, folder: Path, teacher: str = "") -> list[Path]:
    """The folders of the teacher (a stage name, the first stage by default) and of the last stage."""
    first = plan.stage(teacher) if teacher else plan.stages[0]
    return [folder / stage.folder for stage in (first, plan.stages[-1])]


def raced(plan: Plan, folder: Path, teacher: str = "") -> dict[str, Any]:
    """Interleaved laps of `teacher` and `made` (the last stage) in ONNX Runtime on one core, on the same texts."""
    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, RACE_TEXTS))
    engines = {
        name: Predictor(stage / "model", engine="onnx", threads=1).values
        for name, stage in zip(("teacher", "made"), both(plan, folder, teacher), strict=True)
    }
    return race(engines, texts, reference="teacher")["contenders"]


def student_of(plan: Plan, folder: Path, teacher: str, part: str = "") -> dict[str, Any]:
    """The last stage compared with the stage `teacher`; `part` selects another test split."""
    bytes_, scores = [], []
    for home in both(plan, folder, teacher):
        result = read_json(home / "result.json")
        bytes_.append(result["bytes"])
        scores.append(result["parts"][part] if part else result["score"])
    own = plan.stages[plan.stages.index(plan.stage(teacher)) + 1 :]
    return {
        "teacher_bytes": bytes_[0],
        "teacher_score": scores[0]["value"],
        "bytes": bytes_[1],
        "score": scores[1],
        "joules": sum(spent_on(stage, folder)["joules"] for stage in own),
        "race": raced(plan, folder, teacher),
    }


def stages_of(plan: Plan, folder: Path) -> dict[str, Any]:
    """The stages after the teacher, and their energy."""
    return {
        "stages": [stage.to_json() for stage in plan.stages[1:]],
        "spent": [spent_on(stage, folder) for stage in plan.stages[1:]],
    }


def spent_on(stage: PlannedStage, folder: Path) -> dict[str, Any]:
    """Sum over all attempts, including killed and interrupted ones."""
    found = Ledger(folder / "ledger.jsonl").total("key")[stage.key].reading
    return {key: getattr(found, key) for key in SPENT}
