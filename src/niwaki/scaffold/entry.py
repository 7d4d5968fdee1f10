"""Writes one entry and its test: both or neither, and never over an existing file."""

import keyword
import re
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.scaffold.kinds import SOURCE, TEMPLATES, Kind, check_family, check_name, find_kind
from niwaki.scaffold.write import check_new, render, write_all_or_none


def new(kind: str, name: str, family: str = "", into: Path | None = None) -> list[Path]:
    """Writes an entry and its test, into niwaki's checkout or both into one folder, and returns their paths."""
    found = find_kind(kind)
    check_name(found, name)
    if family or into is None:
        family = check_family(found, family)
    if into is None:
        folder = f"{found.folder}/{family}" if family else found.folder
        entry = SOURCE / folder / f"{name}{found.suffix}"
        test = tests_folder() / (found.tests or folder) / name_of_test(name)
        texts = render_entry(found, name, ".".join(["niwaki", *folder.split("/"), name]))
    else:
        entry, test = into / f"{name}{found.suffix}", into / name_of_test(name)
        texts = render_entry(found, name, name, folder=".parent")
    check_new([entry, test])
    write_all_or_none(dict(zip([entry, test], texts, strict=True)), as_packages=into is None)
    return [entry, test]


def render_entry(kind: Kind, name: str, module: str, folder: str = "") -> tuple[str, str]:
    """The texts of an entry and of its test. `folder` leads from the test's path to the folder of a recipe."""
    words = {"name": name, "module": module, "cls": class_name(kind.name, name), "folder": folder}
    return render(f"{kind.name}.j2", words), render(f"test_{kind.name}.j2", words)


def name_of_test(name: str) -> str:
    return f"test_{name.replace('-', '_')}.py"


def tests_folder() -> Path:
    """The tests of the checkout that this niwaki runs from."""
    root = SOURCE.parents[1]
    if SOURCE.parent.name != "src" or not (root / "tests").is_dir():
        raise InputError(
            f"{SOURCE}: is not a checkout of niwaki's source; clone it, or give --package NAME or --into FOLDER"
        )
    return root / "tests"


def class_name(kind: str, name: str) -> str:
    """`soft_targets` → `SoftTargets`; followed by the kind if the template uses that word itself."""
    camel = "".join(part.capitalize() for part in name.split("_"))
    taken = re.findall(r"\w+", (TEMPLATES / f"{kind}.j2").read_text(encoding="utf-8"))
    suffix = "".join(part.capitalize() for part in kind.split("_"))
    return camel + suffix if camel in taken or keyword.iskeyword(camel) else camel
