"""The folder is the list: names come from file names, descriptions from docstrings, nothing is imported until it is used."""

import ast
import importlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from niwaki.core.errors import Refused, did_you_mean


@dataclass(frozen=True)
class Entry:
    """One file of a catalogue."""

    name: str  # the file's name
    family: str  # the folder it lies in, or the catalogue's own name
    description: str  # first line of the file's docstring
    module: str  # what to import when it is used

    def row(self) -> dict[str, str]:
        return {key: value for key, value in asdict(self).items() if key != "module"}


class Catalog:
    """All entries below one package, e.g. `Catalog("niwaki.methods", what="method")`."""

    def __init__(self, package: str, what: str) -> None:
        self.package = package
        self.what = what
        self._loaded: dict[tuple[str, type], Any] = {}

    @property
    def folder(self) -> Path:
        # found relative to this file, not through importlib: looking must not import
        return Path(__file__).parents[1].joinpath(*self.package.split(".")[1:])

    def entries(self) -> list[Entry]:
        return sorted(self._walk(), key=lambda entry: (entry.family, entry.name))

    def _walk(self) -> Iterator[Entry]:
        for path in self._paths():
            yield self._describe(path)

    def _paths(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.py") if not path.name.startswith("_"))

    def _describe(self, path: Path) -> Entry:
        parts = path.relative_to(self.folder).with_suffix("").parts
        family = parts[0] if len(parts) > 1 else self.folder.name
        return Entry(parts[-1], family, first_doc_line(path), ".".join([self.package, *parts]))

    def names(self) -> list[str]:
        return [path.stem for path in sorted(self._paths(), key=lambda path: (path.parent.name, path.stem))]

    def entry(self, name: str) -> Entry:
        for path in self._paths():
            if path.stem == name:
                return self._describe(path)
        raise Refused(f"{self.what} '{name}' is not known{did_you_mean(name, self.names())}")

    def module(self, name: str) -> ModuleType:
        """Imports the file. An import error inside it is the caller's to see, never hidden."""
        return importlib.import_module(self.entry(name).module)

    def load(self, name: str, base: type) -> Any:
        """The class of the file that derives from `base`: the last one defined there. Looked up once: steps of training ask."""
        if (name, base) not in self._loaded:
            self._loaded[name, base] = self._class(name, base)
        return self._loaded[name, base]

    def _class(self, name: str, base: type) -> Any:
        module = self.module(name)
        found = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
        ]
        if not found:
            raise TypeError(f"{module.__name__} defines no {base.__name__}")
        return found[-1]


def first_doc_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return text.splitlines()[0].rstrip(".") if text else ""
