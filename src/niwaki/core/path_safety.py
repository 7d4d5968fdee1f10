"""Whether a file belongs to the folder it lies in: no link in it may lead out of what a stranger delivered.

A symbolic link is followed only to a plain file below the folder, or, in the hub's cache, to the blobs of the same
repository. A hard link looks like a copy when it is read, and installers and caches (uv, pip, nix, `cp -l`) create
them: they are rejected only where the text of a file is published again, as in reports.
"""

from pathlib import Path

from niwaki.core.errors import InputError


def file_inside(folder: Path, name: str) -> Path:
    """The file `name` of the folder, or InputError if it is a link that leads out of the folder, or not a plain file."""
    path = folder / name
    if not path.exists() and not path.is_symlink():
        return path
    try:
        real = path.resolve()
    except (OSError, RuntimeError):  # a link to itself
        raise InputError(f"{path}: is a link that leads nowhere") from None
    if not any(real.is_relative_to(home) for home in allowed_roots(folder)):
        raise InputError(f"{path}: is a link that leads out of its folder; put a copy of the file there")
    if not path.is_file():
        raise InputError(f"{path}: is not a plain file")
    return path


def reject_hard_link(path: Path) -> Path:
    """The file itself, or InputError if it has another hard link."""
    if path.is_file() and path.stat().st_nlink > 1:
        raise InputError(
            f"{path}: is a hard link, so it may be a file from elsewhere that would be published; put a copy there"
        )
    return path


def folder_inside(folder: Path, place: str) -> Path:
    """The folder that a file of a run names, or InputError if it is outside the run."""
    path = folder / place
    try:
        real = path.resolve()
    except (OSError, RuntimeError):  # a link to itself
        raise InputError(f"{path}: is a link that leads nowhere") from None
    if not real.is_relative_to(folder.resolve()):
        raise InputError(f"{folder}: names the folder {place!r}, which leads out of it; make the run anew")
    return path


def allowed_roots(folder: Path) -> list[Path]:
    """The folder; and where it is a snapshot in the hub's cache (models--owner--name/snapshots/revision), the blobs."""
    home = folder.resolve()
    repository = home.parent.parent
    if home.parent.name == "snapshots" and repository.name.startswith(("models--", "datasets--")):
        blobs = repository / "blobs"
        return [home, blobs] if blobs.resolve() == blobs else [home]
    return [home]
