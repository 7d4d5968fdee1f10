"""Tiny exported models that prediction is checked with: floats, int8 and 4 bits.

python tests/house/exported_models.py FOLDER
"""

import sys
from pathlib import Path

import tiny
from niwaki.models.edit import Edit
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit

EDITS: dict[str, list[Edit]] = {"float": [], "int8": [Int8()], "four_bit": [LowBit(base=16)]}


def export_models(place: Path) -> dict[str, Path]:
    """Writes each model to a folder with its name."""
    place.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, edits in EDITS.items():
        model = tiny.model("bert")
        for edit in edits:
            model.apply_edit(edit)
        found[name] = tiny.deployed(model, place / name)
    return found


if __name__ == "__main__":
    export_models(Path(sys.argv[1]))
