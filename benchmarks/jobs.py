"""Jobs of a benchmark that makes models: which are wanted, making their stages, and what was made beside its teacher."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

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
    """Runs those of the jobs that the command line names, and that are not in the records `name` yet; a job is the values of
    `keys`, and is named by them with strokes between, or by the first of them. `options`: more that the command line may say,
    each with what it means; `run` is given it."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("data")
    parser.add_argument("names", nargs="*", help="/".join(keys) + ", or the first of these; none takes all")
    parser.add_argument("--list", action="store_true", help="show the jobs there are")
    parser.add_argument("--again", action="store_true", help="also those that are recorded; the newest record counts")
    for option, meaning in options.items():
        parser.add_argument(f"--{option}", default="", help=meaning)
    given = parser.parse_intermixed_args()
    said = {option: getattr(given, option) for option in options}
    known = {"/".join(map(str, job)): job for job in jobs}
    wanted = [one for one in known if not given.names or any(f"{one}/".startswith(f"{some}/") for some in given.names)]
    if given.list:
        print("\n".join(wanted))
        return
    quiet_libraries()
    done = set() if given.again else {"/".join(str(row[key]) for key in keys) for row in read(name)}
    for one in wanted:
        if one not in done:
            append(name, {**run(*known[one], given.data, **said), **circumstances()})


def home(task: str, seed: int) -> Path:
    """Where the stages of a task and seed lie, so that one benchmark finds what another made."""
    return Path("runs") / f"distil-{task}-{seed}"


def make(plan: Plan, folder: Path) -> None:
    with locked(folder):
        (folder / "stages").mkdir(parents=True, exist_ok=True)
        for stage in plan.stages:
            run_stage(plan, stage, folder, Ledger(folder / "ledger.jsonl"), lambda: False)


def both(plan: Plan, folder: Path, teacher: str = "") -> list[Path]:
    """The folders of the teacher, a stage, the first where none is named, and of what was made last."""
    first = plan.stage(teacher) if teacher else plan.stages[0]
    return [folder / stage.folder for stage in (first, plan.stages[-1])]


def raced(plan: Plan, folder: Path, teacher: str = "") -> dict[str, Any]:
    """Laps of `teacher` and `made`, both as ONNX Runtime runs them on one core, on the same texts in turns."""
    texts = plan.task.inputs(plan.task.splits()["test"].slice(0, RACE_TEXTS))
    engines = {
        name: Predictor(one / "model", engine="onnx", threads=1).values
        for name, one in zip(("teacher", "made"), both(plan, folder, teacher), strict=True)
    }
    return race(engines, texts, reference="teacher")["contenders"]


def student_of(plan: Plan, folder: Path, teacher: str, part: str = "") -> dict[str, Any]:
    """What was made last beside the stage that taught it, or that it was cut from; `part` is another test than the first."""
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
    """What the stages after the teacher were, and took."""
    return {
        "stages": [stage.to_json() for stage in plan.stages[1:]],
        "spent": [spent_on(stage, folder) for stage in plan.stages[1:]],
    }


def spent_on(stage: PlannedStage, folder: Path) -> dict[str, Any]:
    """By all attempts, those that were killed or stopped too."""
    found = Ledger(folder / "ledger.jsonl").total("key")[stage.key].reading
    return {key: getattr(found, key) for key in SPENT}
