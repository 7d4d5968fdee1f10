"""Builds `niwaki-predict`, a package for prediction alone: the compiled kernels and engines/native/packed.py, without dependencies.

    python tools/predict_package.py [--out build/predict]

It answers from the files that `niwaki pack` writes (docs/packed_models.md). Prints one JSON line with the path and the size.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NATIVE = ROOT / "src/niwaki/engines/native"
KERNELS = "niwaki.engines.native._kernels"
PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "niwaki-predict"
version = "{version}"
description = "Predictions from packed niwaki models."
requires-python = ">=3.11"
license = "Apache-2.0"

[project.optional-dependencies]
tokenizers = ["tokenizers>=0.22.2"] # for texts that the tokenizer in C does not read

[project.scripts]
niwaki-predict = "niwaki_predict:command"

[tool.setuptools]
packages = ["niwaki_predict"]

[[tool.setuptools.ext-modules]]
name = "niwaki_predict._kernels"
sources = {sources}
extra-compile-args = {flags}
py-limited-api = true

[tool.distutils.bdist_wheel]
py-limited-api = "cp311"
"""


def write_sources(folder: Path) -> None:
    """The package's source tree."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["ext-modules"]
    (kernels,) = (one for one in settings if one["name"] == KERNELS)
    sources = [Path(source).relative_to("src/niwaki/engines/native").as_posix() for source in kernels["sources"]]
    version = next(
        line.split('"')[1]
        for line in (ROOT / "src/niwaki/__init__.py").read_text().splitlines()
        if line.startswith("__version__")
    )
    (package := folder / "niwaki_predict").mkdir(parents=True)
    shutil.copy(NATIVE / "packed.py", package / "__init__.py")
    (package / "__main__.py").write_text("from niwaki_predict import command\n\ncommand()\n")
    shutil.copytree(NATIVE / "c", folder / "c")
    shutil.copy(ROOT / "LICENSE", folder)
    flags = json.dumps([*kernels["extra-compile-args"], "-s"])  # no names of functions
    (folder / "pyproject.toml").write_text(PROJECT.format(version=version, sources=json.dumps(sources), flags=flags))


def build(out: Path) -> Path:
    """The wheel, built with the environment's own setuptools."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "source"
        write_sources(folder)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", str(folder)]
        subprocess.run([*command, "--wheel-dir", temporary], check=True)
        (wheel,) = Path(temporary).glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "build/predict", help="folder to write the wheel to")
    wheel = build(parser.parse_args().out)
    print(json.dumps({"wheel": str(wheel), "bytes": wheel.stat().st_size}))


if __name__ == "__main__":
    main()
