"""Which engine runs a model: in a run the same on every machine, in a deployment the fastest on this one.

The fastest is found by a short comparison on random tokens and cached in the user's cache folder, by the shape of the model,
the processor, the number of threads and the versions of the engines.
"""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core.errors import InputError, first_line
from niwaki.core.files import user_cache, write_json
from niwaki.core.json_types import Json
from niwaki.core.log import info
from niwaki.data.pixels import PIXELS, Pixels
from niwaki.data.ragged import Ragged
from niwaki.engines import RUNTIMES
from niwaki.engines.native.program_file import outdated
from niwaki.engines.runtime import Runtime
from niwaki.meter.machine import processor
from niwaki.models.config_rules import read as read_config
from niwaki.models.config_rules import readable_tokens
from niwaki.models.input_readers import reads_images
from niwaki.models.preprocessor import preprocessor_for

LENGTHS = (8, 12, 16, 20, 24, 28, 32, 48, 64, 10, 14, 18, 22, 26, 30, 40)  # of the sequences of the comparison
ROUNDS = 3
COMPARED_TOKENS = 4  # that models generate in the comparison
SHAPE_FILES = ("config.json", "blueprint.json", "native.json")


def engines() -> dict[str, type[Runtime]]:
    """All engines by name. A plug-in that cannot be imported is left out with a message."""
    found = {}
    for entry in RUNTIMES.entries():
        try:
            found[entry.name] = RUNTIMES.load(entry.name, Runtime)
        except Exception as error:
            if not entry.origin:
                raise
            info(f"engine '{entry.name}' of {entry.origin} cannot be imported ({first_line(error)}) and is not used")
    return found


def export_targets() -> list[str]:
    """The engines that `niwaki export --to` accepts."""
    return [name for name, engine in engines().items() if engine.is_export_target]


def usable_engines(folder: Path) -> list[str]:
    """The engines that can run the model in a folder and may be chosen automatically, in the order of preference."""
    ranked = [(engine.preference, name, engine) for name, engine in engines().items() if engine.preference is not None]
    found = [name for _, name, engine in sorted(ranked) if engine.unsupported_reason(folder) is None]
    if not found:
        *_, (_, _, last) = sorted(ranked)  # the one that runs the most models
        raise InputError(f"{folder}: no engine can run it ({last.unsupported_reason(folder)})")
    return found


def timed_engines(names: Sequence[str]) -> list[str]:
    """Those engines whose speed is compared; all of them if that leaves none."""
    return [name for name in names if RUNTIMES.load(name, Runtime).is_timed] or list(names)


def fastest_engine(folder: Path, threads: int) -> str:
    if message := outdated(folder):
        info(message)
    names = timed_engines(usable_engines(folder))
    if len(names) < 2:
        return names[0]
    key = _key(folder, names, threads)
    known = _read_cache()
    if known.get(key) not in names:
        known = {**known, key: _compare(folder, names, threads)}
        _write_cache(known)
    return known[key]


def _compare(folder: Path, names: Sequence[str], threads: int) -> str:
    """The name of the engine that takes the least time for the same sequences."""
    encoded = random_sequences(read_config(folder))
    runtimes = dict(_load(folder, names, threads))
    for runtime in runtimes.values():
        if runtime.search is not None:  # whole texts could take minutes
            runtime.search = replace(runtime.search, max_new_tokens=min(COMPARED_TOKENS, runtime.search.max_new_tokens))
    best = dict.fromkeys(runtimes, float("inf"))
    for _ in range(ROUNDS):
        for name, runtime in runtimes.items():
            start = time.perf_counter()
            for batch in runtime.batches(encoded.lengths):
                runtime.run(encoded, batch, 0)
            best[name] = min(best[name], time.perf_counter() - start)
    return min(best, key=lambda name: best[name])


def random_sequences(config: Json) -> EncodedInputs:
    """The sequences of the comparison, within the model's maximum length and vocabulary; or images of its size."""
    if reads_images(config):
        blank = preprocessor_for(config)
        pixels = np.zeros((len(LENGTHS), blank.channels, *blank.size), dtype=np.uint8)
        return EncodedInputs({PIXELS: Pixels(pixels, blank.tokens, blank.scale)}, np.arange(len(LENGTHS)), [])
    longest, vocabulary = max(1, readable_tokens(config)), config.get("vocab_size") or len(LENGTHS) + 1
    lengths = [min(length, longest) for length in LENGTHS]
    ids = Ragged.of([(1 + number) % vocabulary] * length for number, length in enumerate(lengths))
    types = Ragged.of([0] * length for length in lengths)
    return EncodedInputs({"input_ids": ids, "token_type_ids": types}, np.arange(len(lengths)), [])


def _load(folder: Path, names: Sequence[str], threads: int) -> Iterator[tuple[str, Runtime]]:
    for name in names:
        engine = RUNTIMES.load(name, Runtime)
        try:
            yield name, engine(folder, threads)
        except InputError:
            if not engine.is_optional or len(names) == 1:
                raise


def _key(folder: Path, names: Sequence[str], threads: int) -> str:
    shape = hashlib.sha256()
    for name in SHAPE_FILES:
        shape.update((folder / name).read_bytes() if (folder / name).is_file() else b"-")
    packages = ["niwaki", *(RUNTIMES.load(name, Runtime).package or "niwaki" for name in names)]
    parts = [shape.hexdigest(), json.dumps(processor()), str(threads), *names, *map(_version, packages)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "-"


def _cache_file() -> Path:
    return user_cache() / "engines.json"


def _read_cache() -> dict[str, str]:
    """Empty if it cannot be read: the comparison then runs again."""
    try:
        known = json.loads(_cache_file().read_text(encoding="utf-8"))
        return known if isinstance(known, dict) else {}
    except (OSError, ValueError, RuntimeError):  # RuntimeError: the user has no home folder
        return {}


def _write_cache(known: Mapping[str, str]) -> None:
    try:
        _cache_file().parent.mkdir(parents=True, exist_ok=True)
        write_json(_cache_file(), known)
    except (OSError, RuntimeError):
        return  # without a writable cache the comparison runs at every start
