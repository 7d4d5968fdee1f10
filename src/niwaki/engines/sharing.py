"""Model folders as others use them: saved as a sealed copy, uploaded to the Hugging Face Hub, fetched from it."""

import html
import shutil
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from niwaki.core.errors import InputError, UsageError, first_line
from niwaki.core.files import MANIFEST, commit_folder, folder_bytes, require_writable, write_json
from niwaki.core.head_folder import is_head_folder
from niwaki.core.json_types import Json
from niwaki.core.model_integrity import check_unchanged
from niwaki.engines.graph_rules import GRAPH

NEVER_FETCHED = ["*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.joblib", "*.h5", "*.msgpack", ".gitattributes"]
SHOWN_LABELS = 12
MESSAGE = "Upload a model with niwaki"


def save_copy(folder: Path, target: object, documents: Mapping[str, Json] | None = None) -> Path:
    """Writes a copy of a model folder with a MANIFEST, in one step. `documents` are further JSON files by their names."""
    if not isinstance(target, str | Path) or not str(target).strip():
        raise UsageError(f"save_pretrained: the folder must be text or a Path (given: {target!r})")
    place = Path(target).expanduser()
    if is_head_folder(folder):
        raise InputError(f"{folder}: is a head without its encoder; save the model that it belongs to")
    if place.exists() and not (place / MANIFEST).is_file() and (place.is_file() or any(place.iterdir())):
        raise InputError(f"{place}: exists and is not a saved model; remove it or choose another folder")
    check_unchanged(folder)
    require_writable(place.parent)
    with commit_folder(place) as inside:
        skipped = {MANIFEST, *(documents or {})}
        shutil.copytree(folder, inside, dirs_exist_ok=True, ignore=lambda _, names: skipped & set(names))
        for name, content in (documents or {}).items():
            write_json(inside / name, content)
    return place


def hub_copy(folder: Path, place: Path) -> Path:
    """A copy of a model folder in the layout for the Hub. Without the package onnx, and for models that have no such layout, in niwaki's own."""
    if not (folder / GRAPH).is_file() or not find_spec("onnx"):
        return folder
    from niwaki.engines.hub_layout import write_hub_layout

    with commit_folder(place) as inside:
        shutil.copytree(folder, inside, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))
        write_hub_layout(inside)
    return place


def upload(
    folder: Path, repo_id: str, private: bool | None = None, token: str | None = None, message: str = MESSAGE
) -> str:
    """Creates the repository where it does not exist, uploads all files in one commit, in the layout that other tools read, and returns
    its address."""
    check_repo_id(repo_id)
    try:
        from huggingface_hub import HfApi

        api = HfApi(token=token)
        address = api.create_repo(repo_id, private=private, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            place = hub_copy(folder, Path(scratch) / "model")
            api.upload_folder(repo_id=repo_id, folder_path=str(place), commit_message=message)
    except Exception as error:  # noqa: BLE001 - the hub's client raises many kinds, all mean: not uploaded
        raise InputError(
            f"{repo_id}: could not be uploaded to the Hugging Face Hub ({first_line(error)}); log in with `hf auth login`, or pass token=..."
        ) from None
    return str(address)


def fetch(source: object, revision: str | None = None) -> Path:
    """The model folder for a path or a Hub id. Pickled weights of a repository are never fetched."""
    if not isinstance(source, str | Path) or not str(source).strip():
        raise UsageError(f"from_pretrained: give a folder or a Hugging Face id (given: {source!r})")
    folder = Path(source).expanduser()
    if folder.exists() or isinstance(source, Path):
        return folder
    check_repo_id(source)
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(source, revision=revision, ignore_patterns=NEVER_FETCHED))
    except Exception as error:  # noqa: BLE001 - the hub's client raises many kinds, all mean: could not be had
        raise InputError(
            f"{source}: is not a folder, and could not be fetched from the Hugging Face Hub ({first_line(error)})"
        ) from None


def check_repo_id(repo_id: object) -> None:
    """Rejects names that the Hub cannot have, before any request."""
    if (
        not isinstance(repo_id, str)
        or repo_id.count("/") != 1
        or repo_id.startswith((".", "/", "~"))
        or repo_id.endswith("/")
    ):
        raise InputError(f"{repo_id}: is neither a folder nor a Hugging Face id; write owner/name")


class Shareable:
    """What every opened model folder can do: be saved elsewhere, be uploaded, be shown in a notebook."""

    folder: Path
    engine: str
    labels: list[str]

    def save_pretrained(self, folder: str | Path) -> Path:
        """Writes a copy of the model with a MANIFEST: `niwaki.load` notices later damage."""
        return save_copy(self.folder, folder)

    def push_to_hub(self, repo_id: str, *, private: bool | None = None, token: str | None = None) -> str:
        """Uploads the model to the Hugging Face Hub and returns the address of the repository."""
        check_unchanged(self.folder)
        return upload(self.folder, repo_id, private, token)

    def _repr_html_(self) -> str:
        shown = ", ".join(self.labels[:SHOWN_LABELS]) + (", …" if len(self.labels) > SHOWN_LABELS else "")
        size = f"{folder_bytes(self.folder) / 1e6:.1f} MB"
        rows = {"model": str(self.folder), "size": size, "engine": self.engine, "labels": shown}
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in rows.items())
        return f"<table>{cells}</table>"
