"""Where models come from: an embedded name, a folder, or a Hugging Face id."""

from difflib import get_close_matches
from pathlib import Path

from niwaki.core.errors import InputError, first_line
from niwaki.data.embedded import MODELS, find_model
from niwaki.models.head import Head
from niwaki.models.hub_owners import with_owner
from niwaki.models.model import Model, load_folder
from niwaki.models.tokenizer_settings import READ


def load(name: str, head: Head | None = None) -> Model:
    """`name` resolved in the order: embedded name, existing folder, hub id."""
    return load_folder(locate(name), head)


def locate(name: str) -> Path:
    """The folder that holds the model's files; a hub id is fetched (safetensors, json and the files of tokenizers only)."""
    embedded = find_model(name)
    if embedded is not None:
        return embedded
    if Path(name).expanduser().is_dir():
        return Path(name).expanduser()
    if name.endswith(".gguf") and Path(name).expanduser().is_file():
        raise InputError(
            f"{name}: is a GGUF file; turn it into a checkpoint once: `python -m niwaki.convert_gguf {Path(name).name} FOLDER`"
        )
    hub_id = MODELS[name].hub_id if name in MODELS else name
    if name.startswith((".", "/", "~")) or hub_id.count("/") != 1:
        raise InputError(
            f"model '{name}': is neither an embedded model ({', '.join(MODELS)}), a folder, nor a Hugging Face id (owner/name){_hint(name)}"
        )
    return _fetch(hub_id)


def _hint(name: str) -> str:
    """The model that is probably meant."""
    near = with_owner(name) or next(iter(get_close_matches(name, MODELS, n=1, cutoff=0.6)), "")
    return f", did you mean '{near}'?" if near else ""


def _fetch(hub_id: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(hub_id, allow_patterns=["*.json", "*.safetensors", *READ]))
    except Exception as error:  # noqa: BLE001 - the hub's client raises many kinds, all mean: could not be had
        raise InputError(
            f"model '{hub_id}': could not be fetched from the Hugging Face hub ({first_line(error)}); give a folder instead"
        ) from None
