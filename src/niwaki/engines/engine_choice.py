"""Which engine serves a model: in a run the same on every machine, for deployment the fastest on this one.

The fastest is found by a short race on made-up tokens, and remembered beside the user's other caches; what is
remembered belongs to a shape of model, a processor, a number of threads and the engines' versions.
"""

import hashlib
import json
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError
from niwaki.core.files import user_cache, write_json
from niwaki.core.log import info
from niwaki.data.ragged import Ragged
from niwaki.engines import RUNTIMES
from niwaki.engines.native.program_file import outdated
from niwaki.engines.runtime import Runtime
from niwaki.meter.machine import processor
from niwaki.models.config_rules import read as read_config
from niwaki.models.config_rules import readable_tokens

PREFERENCE = ("onnx", "native", "openvino", "torch")
APART = "torch"  # takes seconds to import: it races only where it is alone
OPTIONAL = "openvino"  # a package that need not be there: where it cannot load a model, the others race without it
LENGTHS = (8, 12, 16, 20, 24, 28, 32, 48, 64, 10, 14, 18, 22, 26, 30, 40)  # of the race's sequences
ROUNDS = 3
SHAPE_FILES = ("config.json", "blueprint.json", "native.json")


def usable_engines(folder: Path) -> list[str]:
    """The engines that can serve a folder, in the order of preference."""
    found = [name for name in PREFERENCE if RUNTIMES.load(name, Runtime).unsupported_reason(folder) is None]
    if not found:
        raise InputError(f"{folder}: no engine can run it")
    return found


def fastest_engine(folder: Path, threads: int) -> str:
    if old := outdated(folder):
        info(old)
    racing = [name for name in usable_engines(folder) if name != APART]
    if len(racing) < 2:
        return usable_engines(folder)[0]
    key = _key(folder, racing, threads)
    known = _remembered()
    if known.get(key) not in racing:
        known = {**known, key: _race(folder, racing, threads)}
        _remember(known)
    return known[key]


def _race(folder: Path, names: list[str], threads: int) -> str:
    ids, types = random_sequences(read_config(folder))
    runtimes = dict(_loaded(folder, names, threads))
    best = dict.fromkeys(runtimes, float("inf"))
    for _ in range(ROUNDS):
        for name, runtime in runtimes.items():
            start = time.perf_counter()
            for batch in runtime.batches(ids.lengths):
                runtime.run(ids, types, batch, 0)
            best[name] = min(best[name], time.perf_counter() - start)
    return min(best, key=lambda name: best[name])


def random_sequences(config: dict[str, Any]) -> tuple[Ragged, Ragged]:
    """Ids and types of the race's sequences, as long and of as many pieces as the model reads."""
    longest, pieces = max(1, readable_tokens(config)), config.get("vocab_size") or len(LENGTHS) + 1
    lengths = [min(length, longest) for length in LENGTHS]
    ids = [[(1 + number) % pieces] * length for number, length in enumerate(lengths)]
    return Ragged.of(ids), Ragged.of([[0] * length for length in lengths])


def _loaded(folder: Path, names: list[str], threads: int) -> Iterator[tuple[str, Runtime]]:
    for name in names:
        try:
            yield name, RUNTIMES.load(name, Runtime)(folder, threads)
        except InputError:
            if name != OPTIONAL or len(names) == 1:
                raise


def _key(folder: Path, names: list[str], threads: int) -> str:
    said = hashlib.sha256()
    for name in SHAPE_FILES:
        said.update((folder / name).read_bytes() if (folder / name).is_file() else b"-")
    about = [
        said.hexdigest(),
        json.dumps(processor()),
        str(threads),
        *names,
        *map(_version, ("niwaki", "onnxruntime", "openvino")),
    ]
    return hashlib.sha256("\n".join(about).encode()).hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"


def _file() -> Path:
    return user_cache() / "engines.json"


def _remembered() -> dict[str, Any]:
    """Nothing, where it cannot be read: then the race is run again."""
    try:
        known = json.loads(_file().read_text(encoding="utf-8"))
        return known if isinstance(known, dict) else {}
    except (OSError, ValueError, RuntimeError):  # no home
        return {}


def _remember(known: dict[str, Any]) -> None:
    try:
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_json(_file(), known)
    except (OSError, RuntimeError):
        return  # a home that cannot be written to costs a race at every start, and nothing else
