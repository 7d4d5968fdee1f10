"""The folder is the list: names come from file names, descriptions from docstrings, nothing is imported until it is used.

Installed packages extend a catalogue through an entry point whose group is `niwaki.` and the catalogue's plural. The entry
point has the name of its module:

    [project.entry-points."niwaki.methods"]
    my_method = "my_package.my_method"
"""

import ast
import importlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.plugins import Plugin, installed_plugins

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One file of a catalogue."""

    name: str  # the file's name, or the entry point's
    family: str  # the folder it is in, or the catalogue's own name; for a plug-in the installed package
    description: str  # first line of the file's docstring
    module: str  # what to import when it is used
    origin: str = ""  # name and version of the installed package, for a plug-in

    def row(self) -> dict[str, str]:
        return {"name": self.name, "family": self.family, "description": self.description}


class Catalog:
    """All entries below one package, e.g. `Catalog("niwaki.methods", what="method")`, and those of plug-ins."""

    def __init__(self, package: str, what: str, plural: str = "", plugins: bool = True) -> None:
        self.package = package
        self.what = what
        self.plural = plural or package.rpartition(".")[2]  # by default the folder's name
        self.group = f"niwaki.{self.plural}" if plugins else ""
        self._loaded: dict[tuple[str, type], type] = {}
        self._found: set[str] = set()

    def __contains__(self, name: str) -> bool:
        """Whether there is an entry. Names that were found are cached: every config that is read asks for its family."""
        if name not in self._found and name in self.names():
            self._found.add(name)
        return name in self._found

    @property
    def folder(self) -> Path:
        # found relative to this file, not through importlib: looking must not import
        return Path(__file__).parents[1].joinpath(*self.package.split(".")[1:])

    def entries(self) -> list[Entry]:
        """niwaki's own entries by family and name, then those of plug-ins."""
        own = sorted(map(self._describe, self._paths()), key=lambda entry: (entry.family, entry.name))
        return [*own, *map(_describe_plugin, self._plugins())]

    def names(self) -> list[str]:
        own = [path.stem for path in sorted(self._paths(), key=lambda path: (path.parent.name, path.stem))]
        return [*own, *(plugin.name for plugin in self._plugins())]

    def entry(self, name: str) -> Entry:
        for path in self._paths():
            if path.stem == name:
                return self._describe(path)
        found = [plugin for plugin in self._plugins() if plugin.name == name]
        if found:
            return _describe_plugin(self._only(found))
        raise InputError(
            f"{self.what} '{name}' is not known{did_you_mean(name, self.names())} (or install the package that provides it)"
        )

    def _only(self, found: list[Plugin]) -> Plugin:
        first, *others = found
        if others:
            packages = ", ".join(plugin.origin for plugin in found)
            raise InputError(
                f"{self.what} '{first.name}' is provided by several packages ({packages}); uninstall all but one"
            )
        if first.module.rpartition(".")[2] != first.name:  # saved models and recipes use the module's name
            raise InputError(
                f"{self.what} '{first.name}' of {first.origin}: the entry point and its module {first.module} must have the same name; rename one"
            )
        return first

    def module(self, name: str) -> ModuleType:
        """Imports the file. An import error inside it is the caller's to see, never hidden."""
        return importlib.import_module(self.entry(name).module)

    def load(self, name: str, base: type[T]) -> type[T]:
        """The class of the file that derives from `base`: the last one defined there. Cached: training steps call this."""
        if (name, base) not in self._loaded:
            self._loaded[name, base] = self._class(name, base)
        return self._loaded[name, base]

    def constants(self, attribute: str) -> dict[str, object]:
        """The literal that each file assigns to a class attribute, read without importing; files without it are left out."""
        paths = {path.stem: path for path in self._paths()}
        paths |= {plugin.name: path for plugin in self._plugins() if (path := plugin.path())}
        found = {name: class_constant(path, attribute) for name, path in paths.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _class(self, name: str, base: type) -> type:
        module = self.module(name)
        found = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
        ]
        if not found:
            raise TypeError(f"{module.__name__} defines no {base.__name__}")
        return found[-1]

    def _paths(self) -> list[Path]:
        # os.walk: a quarter of the time of Path.rglob, and every config that is read looks up its family here
        files = ((folder, name) for folder, _, names in os.walk(self.folder) for name in names)
        return sorted(Path(folder, name) for folder, name in files if name.endswith(".py") and name[0] != "_")

    def _plugins(self) -> Iterator[Plugin]:
        """Plug-ins of this catalogue. One that has the name of an entry of niwaki's own is ignored: it cannot replace it."""
        own = {path.stem for path in self._paths()}
        yield from (plugin for plugin in installed_plugins(self.group) if plugin.name not in own)

    def _describe(self, path: Path) -> Entry:
        parts = path.relative_to(self.folder).with_suffix("").parts
        family = parts[0] if len(parts) > 1 else self.folder.name
        return Entry(parts[-1], family, first_doc_line(path), ".".join([self.package, *parts]))


def _describe_plugin(plugin: Plugin) -> Entry:
    path = plugin.path()
    description = first_doc_line(path) if path else f"module {plugin.module} is missing; reinstall {plugin.package}"
    return Entry(plugin.name, plugin.package, description, plugin.module, plugin.origin)


def class_constant(path: Path, attribute: str) -> object:
    """The literal that the last class of a file assigns to an attribute; None if there is none."""
    found: object = None
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if attribute in [target.id for target in targets if isinstance(target, ast.Name)]:
                found = node.value.value
    return found


def first_doc_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return text.splitlines()[0].rstrip(".") if text else ""
