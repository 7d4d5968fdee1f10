"""Entry points of installed packages, found without importing them."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from pathlib import Path


@dataclass(frozen=True)
class Plugin:
    """One entry point: a name in a catalogue and the module that implements it."""

    name: str
    module: str
    package: str  # the installed distribution
    version: str

    @property
    def origin(self) -> str:
        return f"{self.package} {self.version}"

    def path(self) -> Path | None:
        """The module's file; None if it is missing."""
        return find_module(self.module)


@cache
def installed_plugins(group: str) -> tuple[Plugin, ...]:
    """Plug-ins of an entry point group, sorted by package and name; none for an empty group."""
    if not group:
        return ()
    found = {
        Plugin(point.name, point.module, point.dist.name, point.dist.version)
        for point in entry_points(group=group)
        if point.dist is not None
    }
    return tuple(sorted(found, key=lambda plugin: (plugin.package, plugin.name)))


def find_module(name: str) -> Path | None:
    """The file of a module, from the import system's finders; runs no module, not even the packages around it."""
    spec: ModuleSpec | None = None
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        locations = spec.submodule_search_locations if spec else None
        spec = _find_spec(".".join(parts[:depth]), locations)
        if spec is None:
            return None
    return Path(spec.origin) if spec and spec.origin else None


def _find_spec(name: str, locations: Sequence[str] | None) -> ModuleSpec | None:
    found = (finder.find_spec(name, locations) for finder in sys.meta_path)
    return next((spec for spec in found if spec is not None), None)
