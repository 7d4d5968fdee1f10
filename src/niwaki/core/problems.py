"""Collects the faults of checks that do not depend on each other, so that a user sees all of them at once."""

import contextlib
from collections.abc import Iterable, Iterator

from niwaki.core.errors import InputError


class Problems:
    """A check runs inside `collecting()`: what it rejects is noted, and the next check runs. A check that needs what a failed one
    would have given is the caller's to skip. A fault that two checks find is noted once."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def add(self, faults: Iterable[str], prefix: str = "") -> None:
        for fault in faults:
            if f"{prefix}{fault}" not in self.faults:
                self.faults.append(f"{prefix}{fault}")

    @contextlib.contextmanager
    def collecting(self, prefix: str = "") -> Iterator[None]:
        try:
            yield
        except InputError as error:
            self.add(error.faults, prefix)

    def raise_any(self) -> None:
        if self.faults:
            raise InputError(self.faults)
