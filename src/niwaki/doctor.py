"""What this machine has, what niwaki will use of it and why, and whether the packages are those it was tested with.

`niwaki doctor` and `python -m niwaki.doctor` print it. Nothing heavy is imported: the processor is read from /proc, versions
from package metadata. torch is imported only if there is a graphics card, to find out whether it can be used.
"""

import importlib.metadata
import json
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.extras import install_command
from niwaki.core.files import require_writable
from niwaki.core.json_types import Json
from niwaki.core.memory import free_memory
from niwaki.core.system import usable_cores

TESTED = Path(__file__).with_name("tested.json")  # of constraints.txt, the packages that niwaki imports
MIN_DISK, MIN_MEMORY = 2e9, 1.5e9  # bytes that the demo's run needs at the most: 0.6 GB on disk, 1.2 GB in memory
BF16, AMX, VNNI = {"avx512_bf16", "amx_bf16"}, {"amx_tile"}, {"avx512_vnni", "avx_vnni"}


@dataclass(frozen=True)
class Finding:
    """One finding: what was found, how it is used and why. A `fault` states what must be fixed first."""

    name: str
    found: str
    use: str
    why: str = ""
    fault: str = ""


def examine(folder: Path = Path(), flags: set[str] | None = None) -> Json:
    """All findings for runs in `folder`, as plain data."""
    flags = cpu_flags() if flags is None else flags
    card = graphics_card()
    findings = [
        python(),
        cores(),
        number_format(flags, card),
        gpu(card),
        int8_support(flags),
        engine(),
        native(),
        openvino(flags),
        energy(),
        memory(),
        disk(folder),
        *packages(),
    ]
    faults = [f"{finding.name}: {finding.fault}" for finding in findings if finding.fault]
    return {"version": 1, "fine": not faults, "faults": faults, "findings": [asdict(finding) for finding in findings]}


def cpu_flags(path: Path = Path("/proc/cpuinfo")) -> set[str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return set(next((line.partition(":")[2].split() for line in lines if line.startswith(("flags", "Features"))), []))


def graphics_card(device: Path = Path("/dev/nvidiactl")) -> str:
    """The name of a card that torch can use; "" without one. torch is imported only where there is a card at all."""
    if not device.exists() or _version("torch").endswith("+cpu"):
        return ""
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""


def python() -> Finding:
    have = ".".join(map(str, sys.version_info[:3]))
    fault = "" if sys.version_info >= (3, 11) else "niwaki needs 3.11 or newer"
    return Finding("python", have, sys.executable, fault=fault)


def cores() -> Finding:
    usable = usable_cores()
    return Finding("cores", f"{os.cpu_count()} of this machine, {usable} for this process", f"threads: {usable}")


def number_format(flags: set[str], card: str) -> Finding:
    if not _version("torch"):
        return Finding("training", "torch is not installed", "prediction only", install_command("train"))
    if card:
        return Finding("training", card, "bf16 where the card multiplies it", "decided by torch when a stage begins")
    have = sorted((BF16 | AMX) & flags)
    if have:
        return Finding("training", ", ".join(have), "bf16", "the processor multiplies it")
    return Finding("training", "neither AVX512-BF16 nor AMX", "fp32", "bf16 would be emulated, which is slower")


def gpu(card: str) -> Finding:
    if card:
        return Finding("gpu", card, "training on it")
    why = "torch is built without CUDA" if _version("torch").endswith("+cpu") else "torch sees no card"
    return Finding("gpu", "none", "the processor", why)


def int8_support(flags: set[str]) -> Finding:
    have = sorted((VNNI | AMX) & flags)
    if have:
        return Finding("int8", ", ".join(have), "integer products", "smaller and faster")
    return Finding(
        "int8", "neither VNNI nor AMX", "integer products", "smaller; hardly faster without such instructions"
    )


def engine_packages() -> dict[str, str]:
    """The package that each engine needs, in the order of preference. Engines that come with niwaki have none."""
    from niwaki.engines import RUNTIMES

    packages = RUNTIMES.constants("package")
    order = {name: value for name, value in RUNTIMES.constants("preference").items() if isinstance(value, int)}
    return {name: str(packages[name]) for name in sorted(order, key=order.__getitem__) if name in packages}


def engine() -> Finding:
    engines = engine_packages()
    have = [name for name, package in engines.items() if _version(package)]
    fault = "" if have else f"no engine; pip install {next(iter(engines.values()))}"
    return Finding("engine", ", ".join(have) or "none", have[0] if have else "none", "the first that can", fault)


def native() -> Finding:
    """Whether niwaki's own kernels were built, and which of them this processor runs."""
    from niwaki.engines.native.library import FAST, REQUIREMENTS, best, kernels, library

    if library() is None:
        return Finding("native", "not built", "ONNX Runtime instead", REQUIREMENTS)
    have = [name for name in FAST if kernels(name)]
    return Finding(
        "native",
        ", ".join(have) or "none for this processor",
        best() or "ONNX Runtime instead",
        "" if best() else REQUIREMENTS,
    )


def openvino(flags: set[str]) -> Finding:
    """Whether the optional engine is there, and what it does with 8-bit weights on this processor."""
    have = _version("openvino")
    if not have:
        return Finding("openvino", "not installed", "nothing", f"another engine: {install_command('openvino')}")
    products = "integer products" if (VNNI | AMX) & flags else "products of floats, neither VNNI nor AMX"
    return Finding("openvino", have, "in the race of the engines", f"8-bit weights: {products}")


def energy() -> Finding:
    """The sources of joules that are used, with why better ones are not."""
    from niwaki.meter.reader import all_readers, choose

    readers = all_readers()
    chosen, passed = choose(readers)
    why = "; ".join(f"{name}: {fault}" for name, fault in passed.items())
    return Finding("energy", f"{len(readers)} sources known", ", ".join(reader.name for reader in chosen), why)


def memory() -> Finding:
    free = free_memory()
    if free is None:
        return Finding("memory", "unknown", "as much as is needed")
    fault = f"training needs about {MIN_MEMORY / 1e9:g} GB; end other programs" if free < MIN_MEMORY else ""
    return Finding("memory", f"{free / 1e9:.1f} GB free", "as much as is needed", fault=fault)


def disk(folder: Path) -> Finding:
    place = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    free = shutil.disk_usage(place).free
    fault = f"a run needs about {MIN_DISK / 1e9:g} GB; choose another folder with --out" if free < MIN_DISK else ""
    try:
        require_writable(place)
    except InputError as error:
        fault = str(error)
    return Finding("disk", f"{free / 1e9:.1f} GB free", str(place), fault=fault)


def packages() -> list[Finding]:
    """The core dependencies, and those of training unless niwaki is installed for prediction only."""
    tested = json.loads(TESTED.read_text(encoding="utf-8"))
    extras = ("core", "train") if _version("torch") else ("core",)
    versions = [entry for extra in extras for entry in tested[extra].items()]
    return [package(name, version, _version(name), allowed()) for name, version in versions]


def package(name: str, tested: str, have: str, ranges: Json) -> Finding:
    bare = have.partition("+")[0]  # 2.13.0+cpu is a build of 2.13.0
    if not have:
        return Finding(name, "not installed", "nothing", fault=f"pip install {name}=={tested}")
    if bare == tested:
        return Finding(name, have, "tested version")
    if name in ranges and not ranges[name].contains(bare, prereleases=True):
        mending = f"niwaki needs {ranges[name]}; pip install {name}=={tested}"
        return Finding(name, have, "outside the range that is allowed", fault=mending)
    return Finding(name, have, "allowed, not tested", f"tested with {tested}; other versions may give other bits")


def allowed() -> Json:
    """The ranges that niwaki's own package asks for; none where it is not installed."""
    from packaging.requirements import Requirement

    try:
        wanted: Iterable[str] = importlib.metadata.requires("niwaki") or ()
    except importlib.metadata.PackageNotFoundError:
        return {}
    parsed = [Requirement(text) for text in wanted]
    chosen = [one for one in parsed if one.marker is None or one.marker.evaluate({"extra": "train"})]
    return {one.name.lower(): one.specifier for one in chosen}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    from niwaki.cli._app import run

    sys.exit(run(["doctor", *sys.argv[1:]]))
