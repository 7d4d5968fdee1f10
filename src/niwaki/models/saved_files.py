"""Config, weights and tokenizer settings as they are saved, so that transformers and the tools around it read them correctly.

transformers loads a network without a blueprint. It would load an edited one with wrong or random weights: its config knows no
pruned heads, shared layers or packed weights. Such a folder therefore names an architecture of its own and has two guards that
make `from_pretrained` raise an error: `transformers_weights` in config.json (transformers 5 and late 4.x), whose text says what to
do, and the format in the header of the weights (transformers 4). Config and tokenizer still load, because tools for ONNX graphs
need them.
"""

import json
from pathlib import Path
from typing import Any

from niwaki.core.files import write_json, write_text
from niwaki.core.json_types import Json
from niwaki.models.anatomy import Network
from niwaki.models.config_rules import HINT, HINT_KEY, text_positions
from niwaki.models.family import family_of
from niwaki.models.skeleton import head_of
from niwaki.models.tokenizer_loading import TOKENIZER
from niwaki.models.tokenizer_settings import SETTINGS

JS_CONFIG = "transformers.js_config"  # key of config.json: which ONNX file transformers.js loads by default
STOCK_FORMAT, EDITED_FORMAT = {"format": "pt"}, {"format": "niwaki"}
NEW_CLASS, KNOWN_CLASS = "TokenizersBackend", "PreTrainedTokenizerFast"  # transformers 5 reads both, 4 only the second


def config_of(network: Network) -> Json:
    """The config of a network without private keys, which name the folder that it came from."""
    return {key: value for key, value in network.config.to_dict().items() if not key.startswith("_")}


def saved_config(network: Network, edited: bool) -> Json:
    """The content of config.json."""
    config = {**config_of(network), JS_CONFIG: {"dtype": "fp32"}}  # the ONNX file without a suffix
    if not edited:
        return config
    config |= _heads_that_divide(config)
    return {**config, "architectures": [f"NiwakiFor{head_of(config)}"], HINT_KEY: HINT}


def _heads_that_divide(config: Json) -> Json:
    """Some classes of transformers reject a hidden size that is no multiple of the heads, and could not load the tokenizer then. The
    blueprint knows the heads."""
    keys = family_of(str(config["model_type"])).keys
    divides = not keys.key_heads or config[keys.hidden_size] % config[keys.heads] == 0
    return {} if divides else {keys.heads: 1, keys.key_heads: 1}


def save_tokenizer(tokenizer: Any, folder: Path, config: Json) -> None:
    """Writes the files of a transformers tokenizer: without spaces, under a class name that transformers 4 knows too, and with the
    maximum length of the model, so that other tools truncate texts as niwaki does."""
    tokenizer.save_pretrained(folder)
    write_text(folder / TOKENIZER, compact((folder / TOKENIZER).read_text(encoding="utf-8")))
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    for key in ("is_local", "local_files_only"):  # how it was loaded here
        settings.pop(key, None)
    if settings.get("tokenizer_class") == NEW_CLASS:
        settings["tokenizer_class"] = KNOWN_CLASS
    longest = int(config.get("niwaki_max_tokens") or text_positions(config))
    settings["model_max_length"] = min(longest, settings.get("model_max_length") or longest)
    write_json(folder / SETTINGS, settings)


def compact(text: str) -> str:
    """JSON without the spaces that transformers writes, which are half of the bytes of a tokenizer."""
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
