"""Reads a verified run. Everything in it may still come from a stranger: it is cleaned here, once.

Cleaning: NaN, infinity and absurd sizes become null, so that every ratio of the rest is finite; lone surrogates and
control or text-direction characters become U+FFFD, so that no name can rearrange the sentence that it stands in.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from niwaki.core import files, strict_json, strict_toml
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import PLAN, RESULT
from niwaki.core.path_safety import file_inside, reject_hard_link
from niwaki.core.redaction import redact
from niwaki.core.run_folder import LEDGER, MEASUREMENTS, RECIPE, VerifiedRun

VERSION = 1
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
MAX_BYTES = 32 << 20
MAX_DEPTH = 20  # plain data of a run is five deep; more is an attack on the reader's stack


@dataclass(frozen=True)
class RunFiles:
    """What the files say, cleaned. `results` and `curves` are by stage name; an unfinished stage has no result.

    `repeats` are the results for the seeds after the first, by stage name and seed; that of an unfinished one is {}.
    """

    plan: Json
    recipe: str | None = None
    results: dict[str, Json] = field(default_factory=dict)
    repeats: dict[str, dict[float, Json]] = field(default_factory=dict)
    curves: dict[str, list[Json]] = field(default_factory=dict)
    ledger: list[Json] = field(default_factory=list)
    speed: Json = field(default_factory=dict)
    baseline: Json = field(default_factory=dict)
    comparisons: Json = field(default_factory=dict)
    cascade: Json = field(default_factory=dict)


def read_run(verified: VerifiedRun) -> RunFiles:
    """What the files of a verified run say."""
    folder = verified.folder
    plan = checked(folder / PLAN, verified.plan)
    stages = mappings(plan.get("stages"))
    if not stages:
        raise InputError(f"{folder / PLAN}: names no stages, so there is nothing to report")
    results = {str(stage.get("name")): result_of(verified, stage) for stage in stages}
    homes = {str(stage.get("name")): verified.stages.get(str(stage.get("folder"))) for stage in stages}
    measured = {name: checked(folder / name, value) for name, value in verified.measurements.items()}
    return RunFiles(
        plan=plan,
        recipe=_text(folder / RECIPE),
        results={name: result for name, result in results.items() if result},
        repeats=_repeats(verified, plan),
        curves={name: lines(home / "train.jsonl") if home else [] for name, home in homes.items()},
        ledger=lines(folder / LEDGER),
        **{Path(name).stem: measured.get(name, {}) for name in MEASUREMENTS},
    )


def _repeats(verified: VerifiedRun, plan: Json) -> dict[str, dict[float, Json]]:
    """A repeat whose seed is not a number is none: it could be the same one again."""
    found: dict[str, dict[float, Json]] = {}
    for repeat in mappings(plan.get("repeats")):
        seed = number(repeat.get("seed"))
        if seed is None:
            continue
        for stage in mappings(repeat.get("stages")):
            found.setdefault(str(stage.get("name")), {})[seed] = result_of(verified, stage)
    return found


def result_of(verified: VerifiedRun, stage: Json) -> Json:
    """The result of a stage; {} where it is not finished."""
    home = verified.stages.get(str(stage.get("folder")))
    return checked(own(home / RESULT), verified.result(stage)) if home else {}


def checked(path: Path, value: object) -> Json:
    """The content of a file of the run, cleaned."""
    own(path)
    value = clean(value)
    if not isinstance(value, dict):
        raise InputError(f"{path}: must hold a JSON object")
    if value.get("version") != VERSION:
        raise InputError(
            f"{path}: is of version {value.get('version')!r}, this niwaki reads {VERSION}; use the niwaki that wrote it"
        )
    return value


def lines(path: Path) -> list[Json]:
    if not own(path).is_file():
        return []
    data = strict_json.read_bytes(path, MAX_BYTES)
    if sum(data.count(sign) for sign in (b"\n", b",", b"[", b"{")) > strict_json.MAX_VALUES:
        raise InputError(f"{path}: holds more than {strict_json.MAX_VALUES} values, which no run does")
    return mappings(clean(files.read_lines(path)))


def own(path: Path) -> Path:
    """A file of the run: what it says is published, so it must not be another one that a link leads to."""
    return reject_hard_link(file_inside(path.parent, path.name))


def mappings(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def number(value: object) -> float | int | None:
    """`value` when it is a usable number, else None: unknown, never 0."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def clean(value: object, depth: int = 0) -> object:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {clean(str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item, depth + 1) for item in value]
    if isinstance(value, str):
        return UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if value == 0 or 1e-30 < abs(value) < 1e30 else None  # NaN too: it compares to nothing
    return value


def _text(path: Path) -> str | None:
    if not own(path).is_file():
        return None
    text = strict_json.read_bytes(path, strict_toml.MAX_BYTES).decode("utf-8", "replace")
    return redact(str(clean(text.replace("\r\n", "\n"))))
