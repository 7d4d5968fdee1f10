"""The kinds of entries that can be scaffolded, and the names they may have."""

import keyword
import re
from dataclasses import dataclass
from pathlib import Path

from niwaki.core.catalog import Catalog
from niwaki.core.errors import InputError, UsageError, did_you_mean
from niwaki.core.recipes import recipe_files
from niwaki.listing import catalogs

SOURCE = Path(__file__).parents[1]  # of niwaki
TEMPLATES = SOURCE / "templates"
MAX_NAME = 40
RECIPE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class Kind:
    """One kind of entry: a catalogue that has templates, or recipes."""

    name: str
    plural: str
    folder: str  # below niwaki's source
    catalog: Catalog | None  # None for recipes
    suffix: str = ".py"
    tests: str = ""  # below tests, if it is not `folder`

    @property
    def article(self) -> str:
        return "an" if self.name[0] in "aeiou" else "a"

    @property
    def families(self) -> list[str]:
        """The subfolders of a catalogue that has them, such as `prune` for methods."""
        return sorted(path.parent.name for path in (SOURCE / self.folder).glob("*/__init__.py"))

    @property
    def needs_family(self) -> bool:
        """Whether all entries are in subfolders."""
        return bool(self.families) and not any((SOURCE / self.folder).glob("[!_]*.py"))

    def names(self) -> list[str]:
        return self.catalog.names() if self.catalog else [*recipe_files()]


def kinds() -> dict[str, Kind]:
    """Singular → kind, for every catalogue with a template `<kind>.j2`, and recipes."""
    found = {singular(plural): catalog for plural, catalog in catalogs().items()}
    of_catalogs = {
        name: Kind(name, catalog.plural, catalog.folder.relative_to(SOURCE).as_posix(), catalog)
        for name, catalog in found.items()
        if (TEMPLATES / f"{name}.j2").is_file()
    }
    return {**of_catalogs, "recipe": Kind("recipe", "recipes", "recipes", None, ".toml", "run/recipes")}


def singular(plural: str) -> str:
    """`families` → `family`, `methods` → `method`."""
    return plural.removesuffix("ies") + "y" if plural.endswith("ies") else plural.removesuffix("s")


def find_kind(name: str) -> Kind:
    if name not in kinds():
        raise UsageError(f"new: '{name}' is not a kind of entry{did_you_mean(name, list(kinds()))}")
    return kinds()[name]


def check_name(kind: Kind, name: str) -> None:
    """A name is a file name, a module name and a word in recipes, and must not exist in its catalogue."""
    if kind.catalog is None:
        valid, rule = bool(RECIPE_NAME.fullmatch(name)), "lower-case letters, digits, - and _"
    else:
        valid = name.isascii() and name.isidentifier() and name.islower() and not name.startswith(("_", "test_"))
        rule = "lower-case letters, digits and _, begin with a letter, and not begin with test_"
    if keyword.iskeyword(name):
        raise InputError(f"{kind.name} '{name}': is a keyword of Python; choose another name")
    if not valid or len(name) > MAX_NAME:
        raise InputError(f"{kind.name} '{name[:MAX_NAME]}': a name must be {rule}, at most {MAX_NAME} characters")
    if name in kind.names():
        raise InputError(f"{kind.name} '{name}': exists already; choose another name")


def check_family(kind: Kind, family: str) -> str:
    """The folder below the catalogue's that the entry goes into, "" for the catalogue's own."""
    if family and not kind.families:
        raise UsageError(f"new: {kind.article} {kind.name} has no --family; it goes into {kind.folder}")
    if kind.needs_family and not family:
        raise UsageError(f"new: a {kind.name} belongs to a family; give --family ({', '.join(kind.families)})")
    if family and family not in kind.families:
        raise InputError(
            f"family '{family}': is not known{did_you_mean(family, kind.families)} (a new family is a folder in {kind.folder}/ with an empty __init__.py)"
        )
    return family
