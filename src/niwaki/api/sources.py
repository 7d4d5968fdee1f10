"""The model folder behind whatever stands for a model: a path, a Hub id, a run, or an object of niwaki or another library.

Objects of transformers and sentence-transformers are recognized by the names of their classes, so neither library is imported
for the others.
"""

from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError, UsageError, first_line
from niwaki.core.files import commit_folder
from niwaki.core.run_folder import is_run
from niwaki.engines.predictor import Predictor
from niwaki.run.result import Run

SUPPORTED = "give a folder, a Hugging Face id, a transformers model or pipeline, a SentenceTransformer, or what niwaki.load returns"
WHOLE = "100GB"  # weights are saved as one file


def model_folder(model: object, scratch: Path, tokenizer: object = None) -> Path:
    """The folder of a model. Objects in memory are saved into `scratch`; `tokenizer` is for transformers models that have none.

    >>> model_folder("my-model", Path("unused"))
    PosixPath('my-model')
    """
    if isinstance(model, str | Path):
        return _located(model)
    if isinstance(model, Predictor):
        return model.folder
    if isinstance(model, Run):
        return model.deployed_model
    names = class_names(model)
    if "transformers.Pipeline" in names or "sentence_transformers.CrossEncoder" in names:
        return _saved(_part(model, "model"), tokenizer or _part(model, "tokenizer"), scratch)
    if "sentence_transformers.SentenceTransformer" in names:
        return _saved(model, None, scratch)
    if "transformers.PreTrainedModel" in names:
        return _saved(model, tokenizer or _own_tokenizer(model), scratch)
    if any(name.startswith("peft.") for name in names):
        raise InputError("model: has adapters of peft; merge them first: model = model.merge_and_unload()")
    raise InputError(f"model: cannot be read (type {type(model).__name__}); {SUPPORTED}")


def class_names(value: object) -> set[str]:
    """`library.Class` for the class of an object and all its base classes."""
    return {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(value).__mro__}


def _located(model: str | Path) -> Path:
    from niwaki.models.sources import locate

    if not str(model).strip():
        raise UsageError(f"model: is an empty text; {SUPPORTED}")
    folder = Path(model).expanduser()
    if is_run(folder):
        return Run.read(folder).deployed_model
    if isinstance(model, Path) and not folder.is_dir():
        raise InputError(f"{folder}: is not a folder")
    return locate(str(model))


def _part(owner: object, name: str) -> Any:
    found = getattr(owner, name, None)
    if found is None:
        raise InputError(
            f"model: the {type(owner).__name__} has no {name}; give the transformers model and its tokenizer"
        )
    return found


def _own_tokenizer(model: Any) -> Any:
    """The tokenizer of the folder or cached Hub id that a transformers model was loaded from."""
    from transformers import AutoTokenizer

    origin = str(getattr(model.config, "_name_or_path", "") or "")
    try:
        if not origin:
            raise OSError("it was not loaded from a folder")
        return AutoTokenizer.from_pretrained(origin, trust_remote_code=False)
    except Exception as error:  # noqa: BLE001 - transformers raises many kinds, all mean: there is none
        raise InputError(
            f"model: its tokenizer is not known ({first_line(error)}); pass it with tokenizer=..."
        ) from None


def _saved(model: Any, tokenizer: Any, scratch: Path) -> Path:
    """Saves with the library's own function, in one step."""
    with commit_folder(scratch) as folder:
        try:
            if tokenizer is None:
                model.save_pretrained(str(folder))
            else:
                model.save_pretrained(folder, safe_serialization=True, max_shard_size=WHOLE)
                tokenizer.save_pretrained(folder)
        except (OSError, InputError):
            raise
        except Exception as error:  # noqa: BLE001 - of a library that cannot save this model
            raise InputError(f"model: {type(model).__name__} cannot be saved ({first_line(error)})") from None
    return scratch
