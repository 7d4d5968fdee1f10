"""Prints constraints that pin the oldest supported version of each dependency: the lower bounds in pyproject.toml.

    python tools/oldest.py train openvino > oldest.txt
    pip install -e '.[train]' -c oldest.txt

The arguments are the extras to include besides the core dependencies.
"""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9][0-9.]*)")


def oldest(requirements: list[str]) -> list[str]:
    """`name==version` for each requirement with a lower bound."""
    return [f"{found[1]}=={found[2]}" for text in requirements if (found := BOUND.match(text))]


def main() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in sys.argv[1:])]
    pins = dict.fromkeys(pin for group in groups for pin in oldest(group))  # onnx is in two extras
    print("\n".join(pins))


if __name__ == "__main__":
    main()
