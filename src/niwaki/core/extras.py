"""Optional packages: the extra that installs each, and a one-line error if one is missing.

Prediction needs only the core dependencies. Everything else imports what it needs where it needs it, and `explain_missing` turns
the import error into the command that installs the package.
"""

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from types import FunctionType
from typing import TypeVar

from niwaki.core.errors import NiwakiError

T = TypeVar("T")

# import names by extra of pyproject.toml; tests/house/test_dependencies.py compares the two
EXTRAS = {
    "train": (
        "torch",
        "transformers",
        "accelerate",
        "onnx",
        "pyarrow",
        "sklearn",
        "scipy",
        "sacrebleu",
        "jinja2",
        "markupsafe",
    ),
    "images": ("PIL",),
    "inverse": ("mpmath",),
    "hub": ("datasets",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "search": ("optuna",),
    "gpu": ("pynvml",),
    "openvino": ("openvino",),
    "ray": ("ray",),
}


class MissingPackage(NiwakiError, ImportError):
    """A package of an extra is not installed."""


def install_command(extra: str) -> str:
    return f'pip install "niwaki[{extra}]"'  # double quotes: cmd.exe does not know single ones


def extra_of(package: str) -> str | None:
    """The extra that installs a package, by its import name; None for a core dependency or an unknown package."""
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


def missing_package(package: str) -> str | None:
    """What is missing and how to install it; None if the package is installed or belongs to no extra."""
    extra = extra_of(package)
    return f"{package} is not installed; {install_command(extra)}" if extra and not find_spec(package) else None


@contextlib.contextmanager
def explain_missing() -> Iterator[None]:
    """Raises MissingPackage where an import of an optional package fails. Also a decorator: `@explain_missing()`."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        extra = extra_of(package)
        if extra is None or error.name != package:  # a missing submodule is a fault of the installed package
            raise
        raise MissingPackage(
            f"this needs {package}, which is not installed; {install_command(extra)}", name=package
        ) from None


def guarded(value: T) -> T:
    """A public function that explains missing packages when it is called; any other value as it is."""
    return explain_missing()(value) if isinstance(value, FunctionType) else value
