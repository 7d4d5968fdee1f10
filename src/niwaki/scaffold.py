"""Writes a plug-in and its test from the templates beside this file: both or neither, and only where nothing is yet."""

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.files import write_text
from niwaki.core.recipes import recipe_files

PACKAGE = Path(__file__).parent
TEMPLATES = PACKAGE / "templates"
LONGEST = 40
RECIPE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class PluginKind:
    """One kind of plug-in: where its files lie."""

    folder: str  # below the package
    suffix: str = ".py"
    in_families: bool = False
    tests: str = ""  # below tests, where that is another folder


KINDS = {
    "method": PluginKind("methods", in_families=True),
    "task": PluginKind("tasks"),
    "family": PluginKind("models/families"),
    "engine": PluginKind("engines/runtimes"),
    "edit": PluginKind("models/edits"),
    "recipe": PluginKind("recipes", ".toml", tests="run/recipes"),
}


def new(kind: str, name: str, family: str = "", into: Path | None = None) -> list[Path]:
    """Writes the plug-in and its test and gives their paths. `into` puts both into one folder of the user's own."""
    if kind not in KINDS:
        raise UsageError(f"new: '{kind}' is not a kind of plug-in{did_you_mean(kind, list(KINDS))}")
    check_name(kind, name)
    folder = KINDS[kind].folder + (f"/{checked_family(kind, family)}" if KINDS[kind].in_families else "")
    if family and not KINDS[kind].in_families:
        raise UsageError(f"new: only a method has a --family; a {kind} goes into {folder}")
    test_name = f"test_{name.replace('-', '_')}.py"
    if into is None:
        plugin = PACKAGE / folder / f"{name}{KINDS[kind].suffix}"
        test = tests_folder() / (KINDS[kind].tests or folder) / test_name
        module = ".".join(["niwaki", *folder.split("/"), name])
    else:
        plugin, test, module = into / f"{name}{KINDS[kind].suffix}", into / test_name, name
    for path in (plugin, test):
        if path.exists():
            raise InputError(f"{path}: is there already; choose another name, or remove it first")
    words = {"name": name, "module": module, "cls": class_name(kind, name), "own": into is not None}
    write_all_or_none({plugin: render(f"{kind}.j2", words), test: render(f"test_{kind}.j2", words)}, into is None)
    return [plugin, test]


def check_name(kind: str, name: str) -> None:
    """Names are file names, module names and words of a recipe: small letters, digits and _, new to their catalogue."""
    if kind == "recipe":
        known = [*recipe_files()]
        fits, rule = bool(RECIPE_NAME.fullmatch(name)), "small letters, digits, - and _"
    else:
        known = Catalog(f"niwaki.{KINDS[kind].folder.replace('/', '.')}", kind).names()
        fits = name.isascii() and name.isidentifier() and name.islower() and not name.startswith(("_", "test_"))
        rule = "small letters, digits and _, begin with a letter, and not begin with test_"
    if keyword.iskeyword(name):
        raise InputError(f"{kind} '{name}': is a word of Python's own; choose another name")
    if not fits or len(name) > LONGEST:
        raise InputError(f"{kind} '{name[:LONGEST]}': a name must be {rule}, at most {LONGEST} characters")
    if name in known:
        raise InputError(f"{kind} '{name}': there is one already; choose another name")


def checked_family(kind: str, family: str) -> str:
    """The family, which is a folder that is there."""
    root = PACKAGE / KINDS[kind].folder
    known = sorted(path.parent.name for path in root.glob("*/__init__.py"))
    if not family:
        raise UsageError(f"new: a {kind} lies in a family; give --family ({', '.join(known)})")
    if family not in known:
        raise InputError(
            f"family '{family}': is not known{did_you_mean(family, known)} (a new family is a folder in {KINDS[kind].folder}/ with an empty __init__.py)"
        )
    return family


def tests_folder() -> Path:
    """The tests of the checkout that this niwaki runs from."""
    root = PACKAGE.parents[1]
    if PACKAGE.parent.name != "src" or not (root / "tests").is_dir():
        raise InputError(f"{PACKAGE}: is not a checkout of niwaki's source; clone it, or give --into FOLDER")
    return root / "tests"


def class_name(kind: str, name: str) -> str:
    """`soft_targets` → `SoftTargets`; with the kind behind it where the template needs the bare word itself."""
    camel = "".join(part.capitalize() for part in name.split("_"))
    taken = re.findall(r"\w+", (TEMPLATES / f"{kind}.j2").read_text(encoding="utf-8"))
    return camel + kind.capitalize() if camel in taken or keyword.iskeyword(camel) else camel


def render(template: str, words: dict[str, object]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # writes Python and TOML, never HTML
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.get_template(template).render(words)


def write_all_or_none(texts: dict[Path, str], as_packages: bool) -> None:
    """All files, or, when one cannot be written, none, and no folder that was made for them."""
    made: list[Path] = []
    try:
        for path, text in texts.items():
            for folder in [folder for folder in path.parents if not folder.exists()][::-1]:
                folder.mkdir()
                made.append(folder)
                if as_packages:  # so that two tests of one name do not clash
                    (folder / "__init__.py").touch()
                    made.append(folder / "__init__.py")
            made.append(path)
            write_text(path, text)
    except BaseException:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise
