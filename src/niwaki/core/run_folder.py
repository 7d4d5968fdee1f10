"""The one way to read a run folder: everything in it is verified before anything is used.

`open_run` checks the digests of plan.json, the measurements and report.json, that each stage folder is as its MANIFEST
says, and that it holds the stage that the plan names by its key. What is unsound is named, one line each, and rejected.
`niwaki run` does not read a run this way: it makes again what is damaged.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from niwaki.core import strict_json
from niwaki.core.documents import DIGEST, fault_in_document, read_document
from niwaki.core.errors import InputError
from niwaki.core.files import BLOCK, MANIFEST, fingerprint, sha256
from niwaki.core.json_types import Json
from niwaki.core.manifest import fault_in_files
from niwaki.core.model_integrity import PLAN, RESULT
from niwaki.core.path_safety import file_inside, folder_inside

REPORT, LEDGER, RECIPE = "report.json", "ledger.jsonl", "recipe.toml"
CASCADE = "cascade"  # folder of the cascade that a recipe ends with
MEASUREMENTS = ("baseline.json", "comparisons.json", "speed.json", f"{CASCADE}.json")
SMALL = 1 << 20  # larger files of a stage that is only looked at are compared by size; loading a model hashes all of it
FIX = "`niwaki run` with the same recipe makes it again"
Stage = dict[str, Any]


@dataclass(frozen=True)
class VerifiedRun:
    """The verified documents of a run. `measurements` and `stages` contain those that exist."""

    folder: Path
    plan: Json
    report: Json  # {} where none was written yet
    measurements: dict[str, Json]  # by file name
    stages: dict[str, Path]  # by the folder that the plan names

    def result(self, stage: Stage) -> Json:
        """The result of a stage; {} if it does not exist yet."""
        home = self.stages.get(folder_of(stage))
        return strict_json.load(home / RESULT, constants=True) if home else {}

    def sources(self) -> Json:
        """The files that a report of this run is based on; the report records them, to notice later what is missing."""
        return {
            "plan": key_of(self.plan),
            "measurements": {name: value[DIGEST] for name, value in self.measurements.items()},
            "stages": [sha256(home / MANIFEST) if home else None for home in self._homes()],
            "ledger": _ledger(self.folder),
        }

    def _homes(self) -> list[Path | None]:
        return [self.stages.get(folder_of(stage)) for stage in stages_of(self.plan)]

    def current_report(self) -> Json:
        """The report, or InputError if there is none or it was written for other stages or measurements."""
        where = self.folder / REPORT
        if not self.report:
            raise InputError(
                f"{self.folder}: is not a finished run, it has no {REPORT}; `niwaki run` finishes it, `niwaki report` writes it"
            )
        sources, now = self.report.get("sources"), self.sources()
        for part in ("plan", "measurements", "stages"):
            if not isinstance(sources, dict) or sources.get(part) != now[part]:
                raise InputError(
                    f"{where}: was written before the run changed ({part}); `niwaki report` writes it again"
                )
        return self.report


def is_run(folder: Path) -> bool:
    """Whether a folder is a run's, also one that has lost its plan or its report."""
    return any((folder / name).exists() for name in (PLAN, REPORT))


def open_run(folder: Path, full: bool = False) -> VerifiedRun:
    """All documents of a run, verified. `full` also hashes the weights of every stage."""
    if not (folder / PLAN).exists():
        raise InputError(f"{folder}: is not a run, it has no {PLAN}; `niwaki run` makes one")
    plan = _read(folder / PLAN)
    planned = stages_of(plan)
    if not planned:
        raise InputError(f"{folder / PLAN}: names no stages; {FIX}")
    homes = {folder_of(stage): folder_inside(folder, folder_of(stage)) for stage in planned}
    existing = {name: home for name, home in homes.items() if home.exists()}
    there = [name for name in MEASUREMENTS if (folder / name).exists()]
    faults = [fault_in_measurement(folder / name, _inputs(plan, name)) for name in there]
    faults += [
        fault_in_stage(existing[folder_of(stage)], str(stage.get("key")), None if full else SMALL)
        for stage in planned
        if folder_of(stage) in existing
    ]
    faults += [fault_in_cascade(folder), fault_in_report(folder, plan)]
    if found := [fault if "; " in fault else f"{fault}; {FIX}" for fault in faults if fault]:
        raise InputError(list(dict.fromkeys(found)))
    report = read_document(folder / REPORT) if (folder / REPORT).exists() else {}
    return VerifiedRun(folder, plan, report, {name: read_document(folder / name) for name in there}, existing)


def _read(path: Path) -> Json:
    try:
        return read_document(path)
    except InputError as error:
        raise InputError(f"{error}; {FIX}") from None


def stages_of(plan: Json) -> list[Stage]:
    """All stages that a plan names, those of further seeds too."""
    repeats = plan.get("repeats")
    tables = [plan, *(repeats if isinstance(repeats, list) else [])]
    lists = [table.get("stages") for table in tables if isinstance(table, dict)]
    return [stage for stages in lists if isinstance(stages, list) for stage in stages if isinstance(stage, dict)]


def models_of(folder: Path) -> list[str]:
    """The models that a run's plan names, for the run and for single stages; none if the plan cannot be read."""
    try:
        plan = read_document(folder / PLAN)
    except (InputError, OSError):
        return []
    names = [table.get("model") for table in (plan, *stages_of(plan))]
    return [name for name in names if isinstance(name, str) and name]


def folder_of(stage: Stage) -> str:
    return str(stage.get("folder"))


def key_of(plan: Json) -> str:
    """Equal for plans of the same stages, independent of the time and the package versions."""
    return fingerprint([str(stage.get("key")) for stage in stages_of(plan)])


def fault_in_stage(folder: Path, key: str, hash_up_to: int | None = None, unlisted: bool = True) -> str | None:
    """Why a stage's folder cannot be used: it is damaged, or another stage's that was put in its place."""
    if not folder.is_dir():
        return f"{folder}: is not a folder"
    if not (folder / MANIFEST).exists():
        return f"{folder}: has no {MANIFEST}, so it was never finished or is damaged"
    if fault := fault_in_files(folder, "", hash_up_to, unlisted):
        return fault
    try:
        result = strict_json.load(file_inside(folder, RESULT), constants=True)
    except InputError as error:
        return str(error)
    found = result.get("key") if isinstance(result, dict) else None
    return (
        None if found == key else f"{folder}: holds another stage (its key is {str(found)[:12]}, the plan's {key[:12]})"
    )


def fault_in_measurement(path: Path, inputs: str | None = None) -> str | None:
    """Why a measurement cannot be used: it is damaged, or was computed from other inputs than the plan's."""
    fault = fault_in_document(path)
    if fault or inputs is None:
        return fault
    same = fingerprint(read_document(path).get("inputs")) == inputs
    return None if same else f"{path}: was measured on other stages or data than those of {PLAN}"


def fault_in_cascade(folder: Path) -> str | None:
    """Why the cascade of a run cannot be used: its folder is missing or is not the one that its measurements name."""
    document, home = folder / f"{CASCADE}.json", folder / CASCADE
    if not document.exists() or fault_in_document(document):
        return None  # there is none, or the document's own fault is reported
    wanted = read_document(document).get(MANIFEST)
    if wanted is None:
        return None  # it was not shown to keep the share, so nothing was written
    if not (home / MANIFEST).is_file() or sha256(file_inside(home, MANIFEST)) != wanted:
        return f"{home}: is missing, or is not the cascade of this run"
    return fault_in_files(home, "", SMALL)


def _inputs(plan: Json, name: str) -> str | None:
    inputs = plan.get("inputs")
    return str(inputs[name]) if isinstance(inputs, dict) and name in inputs else None


def fault_in_report(folder: Path, plan: Json) -> str | None:
    """Why report.json cannot be used: it is damaged, or a file that it is based on is missing."""
    path = folder / REPORT
    if not path.exists():
        return None
    if fault := fault_in_document(path):
        return f"{fault}; remove it, and `niwaki report` writes it again"
    sources = read_document(path).get("sources")
    if not isinstance(sources, dict) or sources.get("plan") != key_of(plan):
        return fault_in_ledger(folder)  # of an earlier recipe: it is written anew when this one is finished
    stages = zip(stages_of(plan), sources.get("stages", ()), strict=False)
    needed = [*sources.get("measurements", ()), *(folder_of(stage) for stage, existing in stages if existing)]
    missing = [name for name in needed if not (folder / name).exists()]
    return f"{folder / missing[0]}: is missing, and {REPORT} was made from it" if missing else fault_in_ledger(folder)


def fault_in_ledger(folder: Path) -> str | None:
    """A ledger is only appended to, so it must still begin with what the last sound report read of it."""
    if not (folder / REPORT).exists() or fault_in_document(folder / REPORT):
        return None
    sources = read_document(folder / REPORT).get("sources")
    before = sources.get("ledger") if isinstance(sources, dict) else None
    if before is None or before == _ledger(folder, before):
        return None
    return (
        f"{folder / LEDGER}: lines that {REPORT} was made from are gone or changed; `niwaki run` reports what is left"
    )


def _ledger(folder: Path, before: object = None) -> Json:
    """Size and digest of the ledger, or of its beginning that is as long as it was `before`: it is only appended to."""
    path = file_inside(folder, LEDGER)
    size = before.get("bytes") if isinstance(before, dict) else None
    left = size if isinstance(size, int) else path.stat().st_size if path.exists() else 0
    digest, read = hashlib.sha256(), 0
    if path.exists():
        with path.open("rb") as file:
            while left > read and (block := file.read(min(BLOCK, left - read))):
                digest.update(block)
                read += len(block)
    return {"bytes": read, "sha256": digest.hexdigest()}
