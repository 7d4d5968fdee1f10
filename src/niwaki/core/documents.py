"""JSON documents that carry a digest of their content: a damaged byte or an edit is noticed when they are read.

The digest is over the parsed content, so that other line ends or indentation are no damage. It protects against accidents
and casual edits; whoever recomputes it can write what they like.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import fingerprint, sha256, write_json
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside

DIGEST, FILES = "digest", "files"


def write_document(path: Path, value: Json, files: Sequence[str] = ()) -> Json:
    """Writes `value` with its digest and those of sibling `files`, and returns what was written."""
    content = {**value, FILES: {name: sha256(path.with_name(name)) for name in files}} if files else value
    document = {**content, DIGEST: digest_of(content)}
    write_json(path, document)
    return document


def read_document(path: Path) -> Json:
    """The content of a document whose digest is correct; otherwise InputError in one line that names the file."""
    document = strict_json.load(file_inside(path.parent, path.name), constants=True)
    if not isinstance(document, dict):
        raise InputError(f"{path}: must hold a JSON object")
    content = {key: value for key, value in document.items() if key != DIGEST}
    if DIGEST not in document:
        raise InputError(f"{path}: carries no digest (edited, or written by an earlier niwaki)")
    siblings = content.get(FILES, {})
    if document[DIGEST] != digest_of(content) or not isinstance(siblings, dict):
        raise InputError(f"{path}: is not what was saved (damaged or changed since)")
    for name, digest in siblings.items():
        _check_sibling(path, str(name), digest)
    return document


def _check_sibling(path: Path, name: str, digest: object) -> None:
    if Path(name).name != name:
        raise InputError(f"{path}: is damaged, it names the file {name!r}")
    sibling = file_inside(path.parent, name)
    if not sibling.is_file():
        raise InputError(f"{sibling}: is missing")
    try:
        same = sha256(sibling) == digest
    except OSError as error:
        raise InputError(f"{sibling}: cannot be read ({error.strerror or error})") from None
    if not same:
        raise InputError(f"{sibling}: is not what was saved (damaged or changed since)")


def fault_in_document(path: Path) -> str | None:
    """Why a document cannot be used, or None where it is sound."""
    try:
        read_document(path)
    except InputError as error:
        return str(error)
    return None


def digest_of(content: object) -> str:
    """Of what reading the file gives: keys are strings by then, which sort in another order than numbers."""
    return fingerprint(json.loads(json.dumps(content)))
