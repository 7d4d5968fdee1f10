"""Renders templates and writes several files as one: all of them or none."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.files import write_text
from niwaki.scaffold.kinds import TEMPLATES


def render(template: str, words: Mapping[str, object]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # for Python and TOML, never HTML
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.get_template(template).render(words)


def check_new(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.exists():
            raise InputError(f"{path}: exists already; choose another name, or remove it first")


def write_all_or_none(texts: Mapping[Path, str], as_packages: bool = False) -> None:
    """Writes all files. If one fails, restores the previous content and removes new files and folders."""
    previous = {path: path.read_text(encoding="utf-8") for path in texts if path.exists()}
    created: list[Path] = []
    try:
        for path, text in texts.items():
            created += _create_folders(path.parent, as_packages)
            if path not in previous:
                created.append(path)
            write_text(path, text)
    except BaseException:
        for path, text in previous.items():
            write_text(path, text)
        for path in reversed(created):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _create_folders(folder: Path, as_packages: bool) -> list[Path]:
    """Creates the folder and its parents, as packages with an empty `__init__.py` so that test names cannot clash."""
    created = []
    for parent in [path for path in (folder, *folder.parents) if not path.exists()][::-1]:
        parent.mkdir()
        created.append(parent)
        if as_packages:
            (parent / "__init__.py").touch()
            created.append(parent / "__init__.py")
    return created
