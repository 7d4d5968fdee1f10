"""Writes an entry into an installable package of its own, which extends niwaki through entry points."""

import keyword
import re
import sys
import tomllib
from pathlib import Path

from niwaki.core import strict_toml
from niwaki.core.errors import InputError
from niwaki.scaffold.entry import name_of_test, render_entry
from niwaki.scaffold.kinds import MAX_NAME, Kind, check_name, find_kind
from niwaki.scaffold.write import check_new, render, write_all_or_none

PROJECT = "pyproject.toml"
RECIPES = "recipes"  # the subpackage that contains a package's recipes
PACKAGE_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


def new_in_package(kind: str, name: str, package: str, into: Path | None = None) -> list[Path]:
    """Writes an entry and its test into the package in `into`/`package`, which is created if it does not exist.

    Returns the paths of all files that were written.
    """
    found, module = find_kind(kind), module_name(package)
    check_name(found, name)
    root = (into or Path()) / package
    source = root / "src" / module
    if found.catalog is None:
        entry, point, target = source / RECIPES / f"{name}{found.suffix}", module, f"{module}.{RECIPES}"
    else:
        entry, point, target = source / f"{name}.py", name, f"{module}.{name}"
    test = root / "tests" / name_of_test(name)
    check_new([entry, test])
    texts = package_files(found, root, package, [source, entry.parent])
    project = texts.get(root / PROJECT) or (root / PROJECT).read_text(encoding="utf-8")
    texts[root / PROJECT] = add_entry_point(project, f"niwaki.{found.plural}", point, target, root / PROJECT)
    texts[entry], texts[test] = render_entry(
        found, name, target, folder=f'.parents[1] / "src" / "{module}" / "{RECIPES}"'
    )
    write_all_or_none(texts)
    return list(texts)


def package_files(kind: Kind, root: Path, package: str, packages: list[Path]) -> dict[Path, str]:
    """The files around an entry that do not exist yet: pyproject.toml, README.md and `__init__.py`."""
    words = {"distribution": package.replace("_", "-"), "plural": kind.plural}
    texts = {
        root / PROJECT: render("pyproject.j2", words),
        root / "README.md": render("readme.j2", words),
        **{folder / "__init__.py": f'"""Extends niwaki: see {PROJECT}."""\n' for folder in packages},
    }
    if (root / PROJECT).exists():
        strict_toml.load(root / PROJECT)
        texts.pop(root / "README.md")
    return {path: text for path, text in texts.items() if not path.exists()}


def add_entry_point(text: str, group: str, name: str, module: str, where: Path) -> str:
    """pyproject.toml with one entry point more, its other lines unchanged; the same text if it has the entry point."""
    header, line = f'[project.entry-points."{group}"]', f'{name} = "{module}"'
    known = entry_points(text, group)
    if known.get(name) == module:
        return text
    if name in known:
        raise InputError(f"{where}: {group} has an entry '{name}' already ({known[name]}); choose another name")
    if header in text.splitlines():
        text = text.replace(f"{header}\n", f"{header}\n{line}\n", 1)
    else:
        text = f"{text.rstrip()}\n\n{header}\n{line}\n"
    try:
        added = entry_points(text, group).get(name) == module
    except tomllib.TOMLDecodeError:  # e.g. the file has the group as an inline table
        added = False
    if not added:
        raise InputError(f"{where}: the entry point cannot be added; write the table {header} in lines of its own")
    return text


def entry_points(text: str, group: str) -> dict[str, str]:
    project = tomllib.loads(text).get("project", {})
    return dict(project.get("entry-points", {}).get(group, {}))


def module_name(package: str) -> str:
    """`my-package` → `my_package`, which must not hide another module."""
    module = package.replace("-", "_")
    if not PACKAGE_NAME.fullmatch(package) or len(package) > MAX_NAME or keyword.iskeyword(module):
        raise InputError(
            f"package '{package[:MAX_NAME]}': a name must be lower-case words joined by - or _, at most {MAX_NAME} characters"
        )
    if module == "niwaki" or module in sys.stdlib_module_names:
        raise InputError(f"package '{package}': would hide the module '{module}'; choose another name")
    return module
