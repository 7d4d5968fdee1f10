"""What the runs that other runs start from cost, shared among the runs that use them.

A run whose `model` lies in another run uses that run's work, e.g. its pretraining. The ledger of a run charges only what it did
itself; here the energy of the other run is divided by the number of runs that start from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from niwaki.core.json_types import Json
from niwaki.core.run_folder import LEDGER, is_run, models_of
from niwaki.meter.ledger import Ledger, Total


@dataclass(frozen=True)
class Pretraining:
    run: Path  # the run that others start from
    total: Total
    users: list[Path]  # the runs that start from it

    def to_dict(self) -> Json:
        reading, count = self.total.reading, len(self.users)
        return {
            "run": str(self.run),
            "seconds": reading.seconds,
            "joules": reading.joules,
            "unknown": self.total.unknown,
            "shared_by": count,
            "joules_per_run": None if reading.joules is None else reading.joules / count,
            "users": [str(user) for user in self.users],
        }

    def line(self) -> str:
        joules, runs = self.total.reading.joules, "1 run" if len(self.users) == 1 else f"{len(self.users)} runs"
        if joules is None:
            return f"pretraining: {self.run}, joules unknown, shared by {runs} here"
        least = "at least " if self.total.unknown else ""
        each = f": {joules / len(self.users) / 1000:.3g} kJ each" if len(self.users) > 1 else ""
        return f"pretraining: {least}{joules / 1000:.3g} kJ in {self.run}, shared by {runs} here{each}"


def pretraining_of(runs: Iterable[Path]) -> list[Pretraining]:
    """The runs that these runs start from. All runs next to either of them count as users."""
    sources = {source for run in runs for source in sources_of(run)}
    found = []
    for source in sorted(sources):
        near = {home for run in [*runs, source] for home in run.resolve().parent.iterdir() if is_run(home)}
        users = sorted(user for user in near if source in sources_of(user))
        if users and (source / LEDGER).is_file():
            found.append(Pretraining(source, Ledger(source / LEDGER).total()["all"], users))
    return found


def sources_of(run: Path) -> set[Path]:
    """The runs that contain the models that a run names."""
    found = {run_around(Path(name).expanduser(), run) for name in models_of(run)}
    return {source for source in found if source is not None and source != run.resolve()}


def run_around(model: Path, user: Path) -> Path | None:
    """The run that a model lies in; a relative path is read from here, or from where the user's run lies."""
    for start in (Path.cwd(), user.resolve().parent, user.resolve().parent.parent):
        place = (start / model).resolve()
        for folder in (place, *place.parents):
            if is_run(folder):
                return folder
    return None
