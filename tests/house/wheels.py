"""Builds the wheel for tests of the installed package."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def built_wheel(folder: Path) -> Path:
    """Builds from a copy, so that no build folder of the tree is used."""
    source = folder / "source"
    names = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True).split("\n")
    for name in (name for name in names if name and not name.startswith(("tests/", "benchmarks/", "docs/"))):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((ROOT / name).read_bytes())
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    subprocess.run(build, check=True)
    (wheel,) = folder.glob("niwaki-*.whl")
    return wheel
