"""The loop: source, then trial after trial until the space, the trials or the time are used up; then the best model is compared.

source ──> next point ──> trial ──> journal ──┐        best ──> test rows, payback ──> search.json, search.html
               └───────────── losses ─────────┘
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from niwaki.core.errors import InputError, NiwakiError
from niwaki.core.files import fingerprint, require_writable, write_text
from niwaki.core.json_types import Json
from niwaki.core.lock import locked
from niwaki.core.log import info
from niwaki.core.signals import saving, stopping
from niwaki.run.plan import FORMAT, make_plan, model_digest
from niwaki.run.recipe_settings import Recipe
from niwaki.run.room import require_room
from niwaki.run.runner import check_processes, quiet_libraries
from niwaki.run.search_settings import SearchSettings
from niwaki.run.stage_store import store_of
from niwaki.run.validation.validate import validate
from niwaki.search.job import SearchJob
from niwaki.search.journal import Journal
from niwaki.search.predict import Forecast
from niwaki.search.proposals import Proposals
from niwaki.search.source import source_line
from niwaki.search.space import Point, Space, make_space
from niwaki.search.trial import DONE, FAILED, REJECTED, objectives_of, recipe_text, run_trial
from niwaki.train.loop import Interrupted

T = TypeVar("T")
VERSION = 1  # raised when the same seed leads to other trials
FAILURES = 5  # in a row end the search
MANY = 50  # points for each trial, most of them rejected


@dataclass(frozen=True)
class SearchRecord:
    """What a search found so far."""

    job: SearchJob
    journal: Journal
    importance: dict[str, float]
    interrupted: bool  # by the user

    @property
    def source(self) -> Json:
        assert self.journal.source is not None
        return self.journal.source


def run_search(recipe: Recipe, folder: Path, finish: Callable[[SearchRecord], T]) -> T:
    """Searches in `folder`, and returns what `finish` makes of the searched, also after Ctrl-C. Finished trials of an earlier start
    count."""
    check_processes()
    require_writable(folder)
    quiet_libraries()
    settings = recipe.search or SearchSettings()
    with locked(folder), stopping() as requested:
        deadline = Deadline(requested)
        job, forecast, journal = prepared(recipe, settings, folder, deadline)
        interrupted, proposals = False, proposals_of(job, journal)
        try:
            source = source_line(job, journal)
            deadline.start(settings.minutes, journal.seconds)  # the source is always finished
            search_on(job, forecast(source), journal, source, proposals, deadline)
        except KeyboardInterrupt:  # Interrupted, and an overdue stop
            interrupted = not deadline.is_over
            if journal.source is None:
                raise
        deadline.stop()
        if not any(trial["status"] == DONE for trial in journal.trials):
            info("search: no trial was finished; the source's own copies are compared")
        with saving() if interrupted else nullcontext():
            return finish(SearchRecord(job, journal, proposals.importance(), interrupted))


class Deadline:
    """Whether to stop: on request, or when the time is over."""

    def __init__(self, requested: Callable[[], bool]) -> None:
        self.requested, self.at = requested, math.inf

    def __call__(self) -> bool:
        return self.requested() or self.is_over

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.at

    def start(self, minutes: float | None, used_seconds: float) -> None:
        """Time that earlier starts of the search used counts."""
        self.at = math.inf if minutes is None else time.monotonic() + 60 * minutes - used_seconds

    def stop(self) -> None:
        """What comes after the search is finished in any case."""
        self.at, self.requested = math.inf, lambda: False


def prepared(
    recipe: Recipe, settings: SearchSettings, folder: Path, should_stop: Callable[[], bool]
) -> tuple[SearchJob, Callable[[Json], Forecast], Journal]:
    """The checked job, what makes its forecast from the source's record, and the journal of the same search."""
    plain = recipe.model_copy(update={"search": None, "cascade": None, "quantize": [], "seeds": []})
    plan = make_plan(plain, folder.name)
    require_room(plan, folder)
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    store_of(recipe, folder).prune()
    draft = validate(plain)
    space = make_space(recipe, plan.shapes[recipe.stages[0].name].finished)
    if not space.dimensions:
        raise InputError(
            "search: nothing can be varied: no stage after the first has a method that makes the model smaller; add one, "
            "e.g. { use = 'ffn' }, or name values in [search] space"
        )
    job = SearchJob(space, settings, folder, plan.task, recipe.seed, recipe.meter.window, should_stop)
    key = search_key(job, [model_digest(plan.model_folder), plan.task.data.fingerprint()])
    info(f"search: {space.size():,} points in {len(space.dimensions)} dimensions")
    return job, lambda source: Forecast(draft, int(source["other_bytes"])), Journal(folder / f"trials-{key[:12]}.jsonl")


def search_key(job: SearchJob, inputs: list[str]) -> str:
    """A hash of what decides which trials are made; time and number of trials only decide how many."""
    settings = job.settings.model_dump(exclude={"minutes", "trials"})
    space = [[one.path, list(one.values)] for one in job.space.dimensions]
    return fingerprint([VERSION, FORMAT, job.space.base, space, settings, job.seed, *inputs])


def proposals_of(job: SearchJob, journal: Journal) -> Proposals:
    """The study with all recorded trials."""
    proposals = Proposals(job.space, job.settings.sampler, job.seed, objectives_of(job))
    for trial in journal.trials:
        point = proposals.next()
        if point is None or dict(point) != trial["point"]:
            raise NiwakiError(
                f"{journal.path}: trial {trial['number']} is not the one that the seed gives (another version of Optuna?); "
                "remove the file to search anew; finished stages are reused"
            )
        proposals.tell(point, trial["losses"])
    return proposals


def search_on(
    job: SearchJob, forecast: Forecast, journal: Journal, source: Json, proposals: Proposals, deadline: Deadline
) -> None:
    """Trials until something ends the search. Raises Interrupted in the middle of one; its checkpoints are saved."""
    while not is_complete(job, journal):
        if deadline():
            raise Interrupted
        point = proposals.next()
        if point is None:
            info("search: every point was tried")
            return
        line = journal.add(run_trial(job, forecast, source, list(journal.trials), point))
        proposals.tell(point, line["losses"])
        if line["status"] == DONE:
            write_text(recipe_path(job.folder, int(line["number"])), recipe_text(job, point))
        info(f"trial {line['number']}, {described(job.space, point)}: {record_of(line, source)}")
        recent = journal.trials[-FAILURES:]
        if len(recent) == FAILURES and all(trial["status"] == FAILED for trial in recent):
            raise NiwakiError(f"search: {FAILURES} trials in a row failed; the last: {line['reason']}")


def is_complete(job: SearchJob, journal: Journal) -> bool:
    """Rejected points took no time, so they are not counted, unless there are very many."""
    worked = sum(trial["status"] != REJECTED for trial in journal.trials)
    return worked >= job.settings.trials or len(journal.trials) >= MANY * job.settings.trials


def record_of(line: Json, source: Json) -> str:
    if line["status"] != DONE:
        return f"{line['status']}, {line['reason']}"
    sizes = [one["bytes"] / 1e6 for one in line["variants"]]
    return f"keeps {line['part_scores'][-1]:.1%}, {min(sizes):.3g} to {max(sizes):.3g} MB, {line['seconds']:.0f} s"


def recipe_path(folder: Path, number: int) -> Path:
    (folder / "trials").mkdir(exist_ok=True)
    return folder / "trials" / f"{number:03d}.toml"


def described(space: Space, point: Point) -> str:
    """A point in one line, without what is off."""
    names = {one.path: one.path.removeprefix("stages.").replace(".methods.", ".") for one in space.active(point)}
    return ", ".join(f"{names[path]} {value}" for path, value in point.items() if value != "off") or "all off"
