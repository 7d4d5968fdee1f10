"""How the token embeddings of an encoder become one sentence embedding, as sentence-transformers publishes it.

    modules.json                Transformer, Pooling, and optionally Dense and Normalize, in this order
    1_Pooling/config.json       how tokens are pooled
    2_Dense/                    a matrix behind pooling: config.json and model.safetensors
    sentence_bert_config.json   the maximum number of tokens

niwaki keeps the result in config.json as `niwaki_pooling`. No torch here: deployments read these files too.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from niwaki.answers._from_config import is_bare_encoder
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.files import write_json
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.core.settings import Settings, check, setting
from niwaki.models.config_rules import readable_tokens, text_positions
from niwaki.models.family import Config, Network, family_of

if TYPE_CHECKING:
    import numpy as np

MODULES, CONFIG, LIMITS, WEIGHTS = "modules.json", "config.json", "sentence_bert_config.json", "model.safetensors"
KEY = "niwaki_pooling"
MAX_BYTES = 1 << 20
MODES = ("mean", "cls", "max", "mean_sqrt_len_tokens")
FLAGS = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}  # how versions before 5 state the mode
ACTIVATIONS = {"none": "Identity", "tanh": "Tanh", "relu": "ReLU", "gelu": "GELU"}  # niwaki's name → torch's class


PoolingMode = Literal["mean", "cls", "max", "mean_sqrt_len_tokens"]


class Pooling(Settings):
    """From token embeddings to a sentence embedding: pooling, a dense layer, L2 normalization."""

    mode: PoolingMode = setting("mean", "how tokens are pooled")
    normalize: bool = setting(False, "whether the network scales embeddings to length 1")
    dense: int = setting(0, "outputs of a dense layer behind pooling; 0 for none", ge=0, le=1 << 17)
    bias: bool = setting(True, "whether that layer has a bias")
    activation: Literal["none", "tanh", "relu", "gelu"] = setting("none", "activation of that layer")


def pooling_of(config: Config) -> Pooling:
    """The pooling of a config.json: as niwaki saved it, else that of the family."""
    saved = config.get(KEY)
    if isinstance(saved, dict):
        return check(Pooling, saved, KEY)
    return check(Pooling, {"mode": family_of(str(config.get("model_type"))).head.pooling})


def pooling_of_network(network: Network) -> Pooling:
    config = network.config
    return pooling_of({KEY: getattr(config, KEY, None), "model_type": config.model_type})


def embedding_size(config: Config) -> int:
    """Numbers of a sentence embedding."""
    return pooling_of(config).dense or int(config[family_of(str(config.get("model_type"))).keys.hidden_size])


def with_published_pooling(folder: Path, config: Config) -> Config:
    """The config with what sentence-transformers' files in the folder say. Unchanged if there are none, or if it is niwaki's."""
    if config.get(KEY) is not None or not file_inside(folder, MODULES).is_file():
        return config
    found = {**config, KEY: published_pooling(folder).model_dump()}
    limit = _read(folder, LIMITS).get("max_seq_length") if file_inside(folder, LIMITS).is_file() else None
    if is_bare_encoder(config) and type(limit) is int and limit > 0 and not config.get("niwaki_max_tokens"):
        found["niwaki_max_tokens"] = min(limit, text_positions(config))
    return found


def published_pooling(folder: Path) -> Pooling:
    """The pooling that sentence-transformers' files in a folder describe."""
    modules = _modules(folder)
    kinds = [kind for kind, _ in modules]
    if kinds not in (expected := [["Transformer", "Pooling", *rest] for rest in _ENDINGS]):
        names = "; ".join(", ".join(kinds) for kinds in expected)
        raise InputError(f"{folder / MODULES}: lists {', '.join(kinds)[:200]}; niwaki runs {names}")
    paths = dict(modules)
    settings: Json = {
        "mode": _mode(_read(folder, f"{paths['Pooling']}/{CONFIG}"), folder / paths["Pooling"] / CONFIG),
        "normalize": "Normalize" in paths,
    }
    if "Dense" in paths:
        settings |= _dense_settings(folder, f"{paths['Dense']}/{CONFIG}")
    return check(Pooling, settings, str(folder / MODULES))


_ENDINGS: tuple[list[str], ...] = ([], ["Normalize"], ["Dense"], ["Dense", "Normalize"])


def dense_weights(folder: Path) -> Path:
    """The file with the weights of the dense layer."""
    path = file_inside(folder, f"{dict(_modules(folder))['Dense']}/{WEIGHTS}")
    if not path.is_file():
        raise InputError(f"{path}: is missing; save the model with sentence-transformers as safetensors")
    return path


def write_modules(folder: Path, config: Config, dense: "Mapping[str, np.ndarray]") -> None:
    """Writes the files that sentence-transformers reads. `dense` has the tensors of the dense layer, if there is one."""
    pooling, prefix = pooling_of(config), "sentence_transformers.models"
    kinds = [
        "Transformer",
        "Pooling",
        *(["Dense"] if pooling.dense else []),
        *(["Normalize"] if pooling.normalize else []),
    ]
    paths = ["", *(f"{number}_{kind}" for number, kind in enumerate(kinds) if number)]
    entries = zip(kinds, paths, strict=True)
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"{prefix}.{kind}"}
        for number, (kind, path) in enumerate(entries)
    ]
    write_json(folder / MODULES, modules)
    write_json(folder / LIMITS, {"max_seq_length": readable_tokens(config), "do_lower_case": False})
    hidden_size = int(config[family_of(str(config["model_type"])).keys.hidden_size])
    flags = {flag: mode == pooling.mode for flag, mode in FLAGS.items() if mode in MODES}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write_json(folder / "1_Pooling" / CONFIG, {"word_embedding_dimension": hidden_size, **flags})
    if pooling.dense:
        _write_dense(folder / "2_Dense", pooling, hidden_size, dense)


def _write_dense(folder: Path, pooling: Pooling, hidden_size: int, dense: "Mapping[str, np.ndarray]") -> None:
    from safetensors.numpy import save_file

    folder.mkdir(exist_ok=True)
    activation = f"torch.nn.modules.{'linear' if pooling.activation == 'none' else 'activation'}.{ACTIVATIONS[pooling.activation]}"
    sizes = {"in_features": hidden_size, "out_features": pooling.dense, "bias": pooling.bias}
    write_json(folder / CONFIG, {**sizes, "activation_function": activation})
    save_file({f"linear.{name}": values for name, values in dense.items()}, folder / WEIGHTS)


def _modules(folder: Path) -> list[tuple[str, str]]:
    """The class and the folder of each module, in order."""
    path = file_inside(folder, MODULES)
    listed = strict_json.load(path, MAX_BYTES)
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InputError(f"{path}: must be a list of modules")
    return [(str(one.get("type")).rpartition(".")[2], str(one.get("path") or "")) for one in listed]


def _read(folder: Path, name: str) -> Json:
    values = strict_json.load(file_inside(folder, name), MAX_BYTES)
    if not isinstance(values, dict):
        raise InputError(f"{folder / name}: must be a table")
    return values


def _mode(values: Json, where: Path) -> str:
    stated = values.get("pooling_mode") or [mode for flag, mode in FLAGS.items() if values.get(flag)] or "mean"
    modes = [stated] if isinstance(stated, str) else stated
    if not isinstance(modes, list) or len(modes) != 1 or modes[0] not in MODES:
        raise InputError(f"{where}: pools by {str(modes)[:80]}; niwaki pools by one of {', '.join(MODES)}")
    return str(modes[0])


def _dense_settings(folder: Path, name: str) -> Json:
    values = _read(folder, name)
    kind = str(values.get("activation_function", "Tanh")).rpartition(".")[2]
    names = {theirs: ours for ours, theirs in ACTIVATIONS.items()}
    if kind not in names or values.get("use_residual"):
        raise InputError(
            f"{folder / name}: has a residual connection, or activation {kind[:60]}; niwaki has {', '.join(names)}"
        )
    return {"dense": values.get("out_features"), "bias": bool(values.get("bias", True)), "activation": names[kind]}
